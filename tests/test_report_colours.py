"""The colours of pages are distinguishable in light and dark, also for colour-blind readers.

Colour blindness is simulated with the matrices of Machado, Oliveira and Fernandes (2009) for full severity, on linear
RGB. Differences are those of CIE 1976, of which 2 or 3 are just noticeable side by side; thin lines need far more.
Contrast is that of WCAG, which requires 3 for graphics and 4.5 for text.
"""

import re
from itertools import combinations, pairwise

import numpy as np
import pytest

from scenthound.model import FloatArray
from scenthound.ui.html import asset_text

SIGHTS = {
    "normal": np.eye(3),
    "protan": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deutan": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritan": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
#: From linear sRGB to XYZ.
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
LIGHT, DARK = 0, 1
HUES = [f"hue-{number}" for number in range(8)]
SHADES = [f"shade-{number}" for number in range(7)]
in_both = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
for_all = pytest.mark.parametrize("sight", SIGHTS)


def colours(theme: int) -> dict[str, FloatArray]:
    """The colours that look.css names, as shares of red, green and blue."""
    found = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", asset_text("look.css"))
    return {name: np.array(list(bytes.fromhex(both[theme][1:]))) / 255 for name, *both in found}


def linear(colour: FloatArray) -> FloatArray:
    return np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)


def contrast(one: FloatArray, other: FloatArray) -> float:
    low, high = sorted(float(XYZ[1] @ linear(each)) for each in (one, other))
    return (high + 0.05) / (low + 0.05)


def seen(colour: FloatArray, sight: str) -> FloatArray:
    """Lightness and the two opponent colours, as eyes of some kind see them."""
    share = XYZ @ np.clip(SIGHTS[sight] @ linear(colour), 0, 1) / XYZ.sum(axis=1)
    x, y, z = np.where(share > 216 / 24389, np.cbrt(share), (24389 / 27 * share + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def difference(one: FloatArray, other: FloatArray, sight: str) -> float:
    return float(np.linalg.norm(seen(one, sight) - seen(other, sight)))


def test_contrast_and_difference_are_computed_correctly():
    black, white = np.zeros(3), np.ones(3)
    assert contrast(black, white) == pytest.approx(21)
    for sight in SIGHTS:
        assert seen(white, sight) == pytest.approx([100, 0, 0], abs=0.01)
    # Red and green of the same lightness are nearly one colour without the green cones.
    red, green = np.array([0.75, 0.35, 0.2]), np.array([0.42, 0.5, 0.2])
    assert difference(red, green, "normal") > 40
    assert difference(red, green, "deutan") < 10


@in_both
@for_all
def test_series_colours_are_distinguishable(theme, sight):
    of = colours(theme)
    nearest = min((difference(of[one], of[other], sight), one, other) for one, other in combinations(HUES, 2))
    assert nearest[0] > 15, nearest


@in_both
def test_series_colours_contrast_with_the_background(theme):
    of = colours(theme)
    assert {hue: contrast(of[hue], of["ground"]) > 3 for hue in HUES} == dict.fromkeys(HUES, True)


@in_both
@pytest.mark.parametrize("name", ["text", "soft", "accent", "good", "bad"])
def test_text_colours_contrast_with_the_background(theme, name):
    of = colours(theme)
    assert contrast(of[name], of["ground"]) > 4.5


@in_both
@for_all
def test_shades_go_from_low_to_high_by_lightness(theme, sight):
    of = colours(theme)
    steps = np.diff([seen(of[shade], sight)[0] for shade in SHADES])
    assert (steps < -3).all() if theme == LIGHT else (steps > 3).all(), steps
    neighbours = [difference(of[one], of[other], sight) for one, other in pairwise(SHADES)]
    assert min(neighbours) > 8, neighbours
