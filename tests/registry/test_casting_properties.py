"""No cast that is called lossless loses a value, by a model of what engines give back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.casting import planner
from registry.seeding import bundled_catalogue
from registry.typesystem import Catalogue, TypeExpr, build, check_params
from tests.registry.cast_keeping import kept, same
from tests.registry.cast_model import LOST
from tests.registry.cast_values import source_values
from tests.registry.test_casting import FLAVORS, instances


@st.composite
def types(draw: st.DrawFn, catalogue: Catalogue) -> TypeExpr:
    """A type of the catalogue with parameters of an example, its numbers replaced by others that are allowed."""
    typedef = draw(st.sampled_from([each for each in catalogue if each.examples and not each.slots]))
    params: dict[str, Any] = dict(draw(st.sampled_from(typedef.examples)).params)
    properties = typedef.params_schema.get("properties", {})
    for name, rule in properties.items():
        if name in params and rule.get("type") == "integer":
            most = min(rule.get("maximum", 60), 60 if name != "length" else 5000)
            params[name] = draw(st.integers(max(rule.get("minimum", 0), 0), most))
        elif isinstance(rule.get("enum"), list) and name in params:
            params[name] = draw(st.sampled_from(rule["enum"]))
        elif rule.get("type") == "boolean":
            params[name] = draw(st.booleans())
    if check_params(typedef, params):
        params = dict(typedef.examples[0].params)
    return build(catalogue, typedef.code, params)


@pytest.mark.parametrize("source", FLAVORS)
@settings(deadline=None, max_examples=250, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_lossless_cast_gives_every_value_back(source: str, data: st.DataObject) -> None:
    catalogue = bundled_catalogue(source)
    expr = data.draw(types(catalogue))
    values = source_values(catalogue, expr)
    if values is None:
        return
    target = data.draw(st.sampled_from([each for each in FLAVORS if each != source]))
    plan = planner(catalogue, bundled_catalogue(target))
    found = plan.cast(expr)
    if found.safety != "lossless" or found.target is None:
        return
    value = data.draw(values)
    back = kept(plan.target, found.target, value)
    assert back is not LOST, (expr.rendered, found.target.rendered, value, found.why)
    assert same(back, value), (expr.rendered, found.target.rendered, value, back, found.why)


def test_the_model_knows_most_types() -> None:
    known = total = 0
    for flavor in FLAVORS:
        for _, expr in instances(flavor):
            total += 1
            known += source_values(bundled_catalogue(flavor), expr) is not None
    assert known / total > 0.65


@pytest.mark.parametrize(
    ("source", "native", "target", "value"),
    [
        ("postgresql", "numeric(12,2)", "decimal(10,2)", "99999999999.99"),
        ("mysql", "bigint unsigned", "bigint", str(2**64 - 1)),
    ],
)
def test_the_model_notices_a_loss(source: str, native: str, target: str, value: str) -> None:
    from decimal import Decimal

    from registry.typesystem import parse

    hive = bundled_catalogue("hive")
    assert kept(hive, parse(hive, target), Decimal(value)) is LOST
