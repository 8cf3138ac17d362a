"""Runs by a timetable: make, read, change, pause and delete them, and permit what they change."""

from fastapi import APIRouter, Request, Response

from archivolt.domain.identity import Principal
from archivolt.domain.schedule import Schedule
from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.chat_services import ChatServicesOf
from archivolt.entrypoints.http.errors import language_for
from archivolt.entrypoints.http.schedule_bodies import (
    GivenPermission,
    PermissionBody,
    ScheduleBody,
    ScheduleDetail,
    ScheduleList,
)
from archivolt.runs.timetables import Timetables


def schedule_router(services: ChatServicesOf) -> APIRouter:
    """Return the routes of schedules."""
    router = APIRouter(tags=["agent"])
    _add_making(router, services)
    _add_reading(router, services)
    _add_pausing(router, services)
    _add_ending(router, services)
    _add_permissions(router, services)
    return router


def _add_making(router: APIRouter, services: ChatServicesOf) -> None:
    @router.post(
        "/schedules",
        status_code=201,
        summary="Have an agent run start by a timetable",
        operation_id="create_schedule",
    )
    def create_schedule(  # pyright: ignore[reportUnusedFunction]
        request: Request, principal: InteractivePrincipal, body: ScheduleBody
    ) -> ScheduleDetail:
        """Make a schedule; its runs change nothing but what a permission of it covers."""
        timetables = services().agent().timetables()
        made = timetables.create(principal, body.draft(), language_for(request))
        return _detail(timetables, principal, made)

    @router.put(
        "/schedules/{schedule_id}", summary="Change a schedule", operation_id="change_schedule"
    )
    def change_schedule(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, schedule_id: str, body: ScheduleBody
    ) -> ScheduleDetail:
        """Have a schedule be as this says, as a whole; its permissions stay."""
        timetables = services().agent().timetables()
        changed = timetables.change(principal, schedule_id, body.draft())
        return _detail(timetables, principal, changed)


def _add_reading(router: APIRouter, services: ChatServicesOf) -> None:
    @router.get("/schedules", summary="List your schedules", operation_id="list_schedules")
    def list_schedules(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal,
    ) -> ScheduleList:
        """Return your own schedules, each with what came of its last time."""
        timetables = services().agent().timetables()
        names = timetables.vault_names(principal)
        return ScheduleList(
            schedules=[
                ScheduleDetail.of(each, timetables.next_firing(each), names)
                for each in timetables.own(principal)
            ]
        )

    @router.get("/schedules/{schedule_id}", summary="Read a schedule", operation_id="read_schedule")
    def read_schedule(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, schedule_id: str
    ) -> ScheduleDetail:
        """Return one of your schedules with its permissions."""
        timetables = services().agent().timetables()
        return _detail(timetables, principal, timetables.read(principal, schedule_id))


def _add_pausing(router: APIRouter, services: ChatServicesOf) -> None:
    @router.post(
        "/schedules/{schedule_id}/pause", summary="Pause a schedule", operation_id="pause_schedule"
    )
    def pause_schedule(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, schedule_id: str
    ) -> ScheduleDetail:
        """Start no run by it until it is resumed; one that is under way goes on."""
        timetables = services().agent().timetables()
        paused = timetables.enable(principal, schedule_id, enabled=False)
        return _detail(timetables, principal, paused)

    @router.post(
        "/schedules/{schedule_id}/resume",
        summary="Resume a schedule",
        operation_id="resume_schedule",
    )
    def resume_schedule(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, schedule_id: str
    ) -> ScheduleDetail:
        """Go on from its next time; what it missed is not made up for."""
        timetables = services().agent().timetables()
        resumed = timetables.enable(principal, schedule_id, enabled=True)
        return _detail(timetables, principal, resumed)


def _add_ending(router: APIRouter, services: ChatServicesOf) -> None:
    @router.delete(
        "/schedules/{schedule_id}",
        status_code=204,
        summary="Delete a schedule",
        operation_id="delete_schedule",
    )
    def delete_schedule(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, schedule_id: str
    ) -> Response:
        """Remove a schedule with its permissions; the runs that it started stay."""
        services().agent().timetables().delete(principal, schedule_id)
        return Response(status_code=204)


def _add_permissions(router: APIRouter, services: ChatServicesOf) -> None:
    @router.post(
        "/schedules/{schedule_id}/permissions",
        status_code=201,
        summary="Permit changes beforehand",
        operation_id="give_permission",
    )
    def give_permission(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, schedule_id: str, body: PermissionBody
    ) -> GivenPermission:
        """Let the schedule's runs use some tools in a folder, until the permission expires."""
        timetables = services().agent().timetables()
        given = timetables.permissions.give(principal, schedule_id, body.draft())
        return GivenPermission.of(given, timetables.vault_names(principal))

    @router.delete(
        "/schedules/{schedule_id}/permissions/{permission_id}",
        status_code=204,
        summary="Revoke a permission",
        operation_id="revoke_permission",
    )
    def revoke_permission(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, schedule_id: str, permission_id: str
    ) -> Response:
        """Take a permission back: it covers nothing any more, in a run under way either."""
        services().agent().timetables().permissions.revoke(principal, schedule_id, permission_id)
        return Response(status_code=204)


def _detail(timetables: Timetables, principal: Principal, schedule: Schedule) -> ScheduleDetail:
    names = timetables.vault_names(principal)
    return ScheduleDetail.of(schedule, timetables.next_firing(schedule), names)
