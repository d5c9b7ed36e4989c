"""Render templates: what they write, and that no template can run long, grow large or reach out."""

from __future__ import annotations

import time
from typing import Any

import pytest

from registry.seeding import bundled_catalogue
from registry.typesystem import (
    Catalogue,
    ParamsInvalid,
    TemplateInvalid,
    TypeDef,
    TypeSystemError,
    check_template,
    parse,
    render,
)


def rendered(template: str, **params: Any) -> str:
    return render(Catalogue("x", (TypeDef("x", "t", "t", render_template=template),)), "t", params)


def test_numeric_is_written_with_what_was_given() -> None:
    catalogue = bundled_catalogue("postgresql")
    assert render(catalogue, "numeric", {}) == "numeric"
    assert render(catalogue, "numeric", {"precision": 12, "scale": 2}) == "numeric(12,2)"
    assert render(catalogue, "array", {}, {"element": parse(catalogue, "int8")}) == "bigint[]"


def test_parameters_are_checked_first() -> None:
    with pytest.raises(ParamsInvalid) as refused:
        render(bundled_catalogue("postgresql"), "numeric", {"precision": 12, "scale": 13})
    assert [(e.path, e.message) for e in refused.value.errors] == [
        ("scale", "scale must not be larger than precision")
    ]


def test_an_unknown_type_is_refused_in_words() -> None:
    with pytest.raises(TypeSystemError, match="postgresql has no type nothing"):
        render(bundled_catalogue("postgresql"), "nothing", {})


def test_a_template_may_loop_choose_and_join() -> None:
    loop = (
        "{% for v in values %}'{{ v|replace(\"'\", \"''\") }}'{% if not loop.last %},{% endif %}{% endfor %}"
    )
    template = f"t({loop})"
    assert rendered(template, values=["a", "it's"]) == "t('a','it''s')"
    assert rendered("{{ 'x' ~ (2 + 3) }}{{ '[]' * 2 }}{{ values|join(',') }}", values=[1, 2]) == "x5[][]1,2"


@pytest.mark.parametrize(
    ("template", "line"),
    [
        ("a\nb {{ nope }}", 2),
        ("a\n\n{% if %}", 3),
        ("\n{{ 1 // 0 }}", 2),
        ("\n{{ values.x.y }}", 2),
        ("\n\n{{ 10 ** 10 }}", 3),
        ("{{ 'a'|center(9) }}", 1),
        ("\n{{ x is divisibleby 3 }}", 2),
    ],
)
def test_an_error_names_its_line(template: str, line: int) -> None:
    with pytest.raises(TemplateInvalid) as refused:
        rendered(template, values=[1])
    assert refused.value.line == line
    assert str(refused.value).startswith(f"Line {line}: ")


NASTY = [
    "{% for i in range(10**9) %}x{% endfor %}",
    "{{ 10**10**10 }}",
    "{{ 'a' * 1000000000 }}",
    "{{ [1] * 1000000000 }}",
    "{{ 9" + " * 99999999999999999999" * 50 + " }}",
    "{% for a in v %}{% for b in v %}{% endfor %}{% endfor %}",
    "{% set x = 'aaaaaaaaaa' %}" + "{% set x = x ~ x %}" * 40 + "{{ x }}",
    "{% set x = 'aaaaaaaaaa' %}" + "{% set x = x + x %}" * 40 + "{{ x }}",
    "{{ 'aaaaaaaaaa'" + "|replace('a', 'aaaaaaaaaa')" * 20 + " }}",
    "{{ '%1000000000d' % 1 }}",
    "{{ v|join('a' * 1000) }}",
    "{{ v }}",
    "{% set v = v + v %}" * 20,
    "{{ v" + "|list" * 1000 + " }}",
    "{{ " + "(" * 500 + "1" + ")" * 500 + " }}",
    "{{ " + "-" * 3000 + "1 }}",
    "{% if 1 %}" * 300 + "{% endif %}" * 300,
    "{{ 1" + "0" * 5000 + " }}",
    "x" * 3000,
    "x" * 100_000,
]
UNREACHABLE = [
    "{{ ''.__class__.__mro__ }}", "{{ self }}", "{{ lipsum(1000) }}", "{{ cycler }}", "{{ 'abc'.upper() }}",
    "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}", "{% include 'x' %}", "{% import 'x' as y %}",
    "{% extends 'x' %}", "{{ namespace() }}", "{{ _clock }}", "{{ v|map('string')|list }}", "{{ v|_counted }}",
    "{% for i in v recursive %}{{ loop(v) }}{% endfor %}", "{% set a.b = 1 %}", "{% call v() %}{% endcall %}",
]  # fmt: skip


@pytest.mark.parametrize("template", NASTY + UNREACHABLE, ids=lambda template: template[:40])
def test_a_nasty_template_is_refused_at_once(template: str) -> None:
    started = time.thread_time()
    with pytest.raises(TemplateInvalid):
        rendered(template, v=list(range(60_000)))
    assert time.thread_time() - started < 2  # seconds of work, whatever else the machine does


def test_a_template_can_be_checked_alone() -> None:
    check_template("numeric({{ precision }})")
    with pytest.raises(TemplateInvalid, match="Line 1"):
        check_template("numeric({{ precision }")
