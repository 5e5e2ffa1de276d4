"""Budgets of pages per host and per domain, with pages in flight."""

from hypothesis import given
from hypothesis import strategies as st

from scenthound.frontier.politeness_rules import PageBudgets, PolitenessRules
from scenthound.reasons import SkipReason


def budgets(**limits):
    return PageBudgets(PolitenessRules(**limits))


def take(budget, host, domain):
    budget.reserve(host, domain)
    budget.settle(host, domain, taken=True)


def test_a_host_gives_as_many_pages_as_its_budget():
    budget = budgets(pages_per_host=2)
    take(budget, 3, 0)
    assert budget.spent(3, 0) is None
    take(budget, 3, 0)
    assert budget.spent(3, 0) == SkipReason.HOST_BUDGET
    assert not budget.has_room(3, 0)
    assert budget.spent(2, 0) is None
    assert budget.has_room(9, 0)


def test_hosts_of_one_domain_share_its_budget():
    budget = budgets(pages_per_domain=2)
    take(budget, 0, 5)
    take(budget, 1, 5)
    assert budget.spent(2, 5) == SkipReason.DOMAIN_BUDGET
    assert budget.spent(2, 4) is None


def test_a_page_in_flight_holds_the_last_place_and_may_give_it_back():
    budget = budgets(pages_per_domain=1)
    budget.reserve(0, 0)
    # Not spent, so no page of the domain is given up; but none may be asked for just now.
    assert budget.spent(1, 0) is None
    assert not budget.has_room(1, 0)
    budget.settle(0, 0, taken=False)
    assert budget.has_room(1, 0)
    take(budget, 1, 0)
    assert budget.spent(0, 0) == SkipReason.DOMAIN_BUDGET


def test_without_budgets_nothing_is_ever_spent():
    budget = budgets()
    for _ in range(100):
        take(budget, 0, 0)
    assert budget.spent(0, 0) is None
    assert budget.has_room(0, 0)


steps = st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.booleans()), max_size=80)


@given(steps, st.integers(1, 4), st.integers(1, 6))
def test_budgets_are_never_passed_and_are_spent_in_the_end(steps, per_host, per_domain):
    # Hosts 0 and 1 are domain 0, hosts 2 and 3 domain 1.
    budget = budgets(pages_per_host=per_host, pages_per_domain=per_domain)
    taken, in_flight = [0] * 4, []
    for host, is_start, is_taken in steps:
        if is_start and budget.has_room(host, host // 2):
            budget.reserve(host, host // 2)
            in_flight.append(host)
        elif not is_start and in_flight:
            ended = in_flight.pop()
            taken[ended] += is_taken
            budget.settle(ended, ended // 2, taken=is_taken)
    for host in in_flight:
        budget.settle(host, host // 2, taken=False)
    for host in (0, 2, 1, 3):
        while budget.has_room(host, host // 2):
            take(budget, host, host // 2)
            taken[host] += 1
        assert budget.spent(host, host // 2)
    assert max(taken) <= per_host
    assert [taken[0] + taken[1], taken[2] + taken[3]] == [min(per_domain, 2 * per_host)] * 2
