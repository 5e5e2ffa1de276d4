import pytest

from evolve_searches import N_WEIGHTS, new_search, run, share_of_ones
from scenthound.experiments.search.base import bits_of, genes_of
from scenthound.experiments.search.genetic import distance

#: Four weights are 28 bits: the threshold begins at 7, and 35 % of the bits are 10.
FOUR = {"n_weights": 4}


def weights(bits: int) -> tuple[int, ...]:
    """Weights of four genes that have 127 among them, so that they come back as they are."""
    return genes_of(bits, 4)


ALL_ONES = weights(2**28 - 1)
#: 127 in front, and another 14 of the 21 remaining bits are 0: half the distance to all ones is 7.
FOURTEEN_AWAY = weights(0b1111111_0000000_0000000_1111111)
#: And with one bit more, 7.5.
FIFTEEN_AWAY = weights(0b1111111_0000000_0000000_1111110)


def test_a_pair_with_more_than_the_threshold_between_has_two_children_of_it():
    search = new_search("chc:population=2", seeds=[ALL_ONES, FIFTEEN_AWAY], **FOUR)
    search.tell([0.5, 0.4])
    one, other = map(bits_of, search.ask())
    ones, parent = bits_of(ALL_ONES), bits_of(FIFTEEN_AWAY)
    # Seven of the fifteen bits changed sides; the 13 in which the parents agree stay.
    assert sorted([distance(one, ones), distance(other, ones)]) == [7, 8]
    assert one & other == parent
    assert one | other == ones
    assert search.generation == 0


def test_incest_is_prevented_until_the_threshold_has_fallen():
    search = new_search("chc:population=2", seeds=[ALL_ONES, FOURTEEN_AWAY], **FOUR)
    search.tell([0.5, 0.4])
    # 14 / 2 = 7 is not more than 7: a generation without children lowers the threshold to 6, then they mate.
    assert search.generation == 1
    assert len(search.ask()) == 2


def test_the_threshold_falls_when_no_child_gets_in_and_a_tie_does_not_count():
    search = new_search("chc:population=2", seeds=[ALL_ONES, FIFTEEN_AWAY], **FOUR)
    search.tell([0.5, 0.4])
    assert search._threshold == 7
    search.tell([0.4, 0.1])
    assert search._threshold == 6
    assert [each.genes for each in search.population] == [ALL_ONES, FIFTEEN_AWAY]
    child = search.ask()[0]
    search.tell([0.41, 0.1])
    assert [each.genes for each in search.population] == [ALL_ONES, child]


def test_the_threshold_stays_when_a_child_gets_in():
    search = new_search("chc", seed=2)
    search.tell([0.5] * 50)
    threshold = search._threshold
    assert threshold == 63 / 4
    search.tell([0.6, *[0.1] * (len(search.ask()) - 1)])
    assert search._threshold == threshold


def test_a_converged_population_is_replaced_by_scattered_copies_of_its_best():
    search = new_search("chc:population=6", seeds=[ALL_ONES] * 6, **FOUR)
    search.tell([0.5] * 6)
    # All alike, so nobody mates: the threshold falls from 7 to -1 in eight generations, and the cataclysm comes.
    assert search.generation == 8
    assert len(search.ask()) == 5
    assert [distance(bits_of(genes), bits_of(ALL_ONES)) for genes in search.ask()] == [10] * 5
    assert [each.genes for each in search.population] == [ALL_ONES]
    assert search._threshold == pytest.approx(0.35 * 0.65 * 28)


def test_the_best_survives_a_cataclysm_and_all_others_compete_anew():
    search = new_search("chc:population=6", seeds=[ALL_ONES] * 6, **FOUR)
    search.tell([0.5] * 6)
    copies = search.ask()
    search.tell([0.1, 0.2, 0.3, 0.4, 0.6])
    assert [each.genes for each in search.population] == [copies[4], ALL_ONES, *copies[3::-1]]
    assert search.generation >= 9


def test_everybody_mates_at_most_once_in_a_generation_and_with_anybody():
    search = new_search("chc", seed=3)
    search.tell([0.5] * 50)
    parents = [bits_of(each.genes) for each in search.population]
    children = [bits_of(genes) for genes in search.ask()]
    mates = []
    for one, other in zip(children[::2], children[1::2], strict=True):
        pairs = [{i, j} for j in range(50) for i in range(j) if same_bits(parents[i], parents[j], one, other)]
        assert len(pairs) == 1
        mates += pairs[0]
        assert distance(one, other) / 2 > 63 / 4
    assert len(set(mates)) == len(mates) > 10
    # Neighbours in the order of fitness are no more likely to mate than others.
    assert any(abs(first - second) > 10 for first, second in zip(mates[::2], mates[1::2], strict=True))


def same_bits(first: int, second: int, one: int, other: int) -> bool:
    """Whether two pairs have the same bits at every place, whoever of the pair has which."""
    return (first & second, first | second) == (one & other, one | other)


@pytest.mark.parametrize(("text", "n_evaluated"), [("chc", 2550), ("chc:population=10,evaluations=47", 47)])
def test_it_ends_at_a_number_of_evaluations(text, n_evaluated):
    search = new_search(text)
    run(search, share_of_ones)
    assert search.n_evaluated == search.summary().most_evaluations == n_evaluated
    assert search.generation < search.method.generations


def test_it_ends_at_a_number_of_generations_even_if_they_ask_for_nothing():
    search = new_search("chc:population=6,generations=5,evaluations=none", seeds=[ALL_ONES] * 6, **FOUR)
    search.tell([0.5] * 6)
    assert (search.done, search.generation, search.n_evaluated) == (True, 5, 6)
    longer = new_search("chc:population=10,generations=40,evaluations=none")
    run(longer, share_of_ones)
    assert longer.generation == 40
    assert longer.n_evaluated <= longer.summary().most_evaluations == 410


def test_bits_are_driven_to_ones_and_through_restarts():
    search = new_search("chc:population=20,generations=400,evaluations=none", seed=1)
    asked = run(search, share_of_ones)
    assert search.best.fitness == 1.0
    assert search.best.genes == (127,) * N_WEIGHTS
    # The copies of a cataclysm are all but one of a population.
    assert [len(each) for each in asked].count(19) > 1
