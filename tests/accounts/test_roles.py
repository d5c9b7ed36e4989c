"""What a role may do."""

from __future__ import annotations

import pytest

from aide.accounts.roles import MATRIX, Capability, can, systems_limit
from tests.factories import make_api_key, make_service, make_user

pytestmark = pytest.mark.django_db
C = Capability


@pytest.mark.parametrize("role", sorted(set(MATRIX) - {"steward"}))
def test_each_group_grants_its_row_of_the_matrix(role):
    user = make_user(role)
    assert {one for one in C if can(user, one)} == MATRIX[role]


def test_the_superuser_flag_decides_nothing():
    user = make_user(is_superuser=True)
    assert not any(can(user, one) for one in C)
    assert not user.has_perm("registry.view_system")
    assert not user.is_staff


def test_an_inactive_user_may_nothing():
    assert not any(can(make_user("admin", is_active=False), one) for one in C)


def test_the_administrator_manages_and_does_not_decide():
    admin = make_user("admin")
    assert can(admin, C.MANAGE_USERS)
    assert can(admin, C.START_CRAWL)
    assert not can(admin, C.DECIDE)
    assert not can(admin, C.APPROVE_BREAKING)
    assert not can(admin, C.PUBLISH)


def test_programs_never_use_the_screens():
    assert not make_service().is_staff
    assert not make_user("admin", user_type="technical").is_staff
    assert make_user("viewer").is_staff


def test_a_key_narrows_its_owner_to_its_scopes():
    engineer = make_user("engineer")
    engineer.acting_key = make_api_key(engineer, "registry:read")[0]
    assert can(engineer, C.VIEW)
    assert not can(engineer, C.MANAGE_SYSTEMS)
    engineer.acting_key = make_api_key(engineer, "registry:write")[0]
    assert can(engineer, C.MANAGE_SYSTEMS)
    assert not can(engineer, C.OWN_KEYS)


def test_a_key_for_writing_the_registry_publishes_and_one_for_events_does_not():
    service = make_service()
    service.acting_key = make_api_key(service, "registry:write")[0]
    assert can(service, C.PUBLISH)
    service.acting_key = make_api_key(service, "lineage:write")[0]
    assert not can(service, C.PUBLISH)
    assert can(service, C.SEND_EVENTS)


def test_a_steward_without_systems_decides_nothing():
    steward = make_user("steward")
    assert can(steward, C.VIEW)
    assert not can(steward, C.DECIDE)
    assert systems_limit(steward, C.DECIDE) == frozenset()
    assert systems_limit(make_user("approver"), C.DECIDE) is None


def test_the_admin_s_questions_are_answered_from_the_groups():
    engineer, viewer = make_user("engineer"), make_user("viewer")
    assert engineer.has_perm("registry.change_system")
    assert not viewer.has_perm("registry.change_system")
    assert viewer.has_perm("registry.view_system")
    assert not make_user("admin").has_perm("audit.change_auditentry")
    assert not viewer.has_perm("accounts.view_user")
    assert not viewer.has_module_perms("accounts")
