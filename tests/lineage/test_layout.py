"""The drawing of lineage: every box has a place of its own, and what follows stands to the right."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from lineage.layout import BOX_HEIGHT, BOX_WIDTH, lay_out

names = st.text("abcdef", min_size=1, max_size=3)


@given(
    st.dictionaries(names, st.integers(-4, 4), min_size=1, max_size=20),
    st.lists(st.tuples(names, names), max_size=30),
)
def test_no_two_boxes_overlap_and_layers_go_from_left_to_right(
    layers: dict[str, int], edges: list[tuple[str, str]]
) -> None:
    made = lay_out(layers, edges)
    assert set(made.boxes) == set(layers)
    for one, other in combinations(layers, 2):
        a, b = made.boxes[one], made.boxes[other]
        assert abs(a.x - b.x) >= BOX_WIDTH or abs(a.y - b.y) >= BOX_HEIGHT
        if layers[one] < layers[other]:
            assert a.x < b.x
    for box in made.boxes.values():
        assert 0 <= box.x <= made.width - BOX_WIDTH
        assert 0 <= box.y <= made.height - BOX_HEIGHT
    assert {(line.source, line.target) for line in made.lines} == {
        (a, b) for a, b in edges if a in layers and b in layers and a != b
    }


def test_a_box_stands_beside_what_it_is_tied_to() -> None:
    made = lay_out({"a": 0, "b": 0, "x": 1, "y": 1}, [("a", "y"), ("b", "x")])
    in_order = sorted(["x", "y"], key=lambda each: made.boxes[each].y)
    assert in_order == ["y", "x"] or made.boxes["a"].y > made.boxes["b"].y
