"""A job on its cards: from start through start-up, work and checkpoints to its end.

One record of a job's life (`Run`) lives in the engine from submission to the end. A stay on cards
is planned at its start: when nothing goes wrong, one event ends it. Work saved by checkpoints is
computed when something does go wrong, so checkpoints cost no events.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sim.decisions.checkpoints import interval
from sim.engine.clock import Clock, Order, Timed
from sim.engine.fleet import Card, Pool
from sim.engine.saves import disk_lost, forget, forget_clean, reached, restored
from sim.engine.sharing import PacedStay, SharedStay
from sim.engine.sharing_pacer import Pacer
from sim.engine.sharing_pools import SharedPool
from sim.engine.sharing_slices import SlicedPool
from sim.engine.stay import Run, Stay, interruptions, noise, user_end
from sim.model.failures import CheckpointSpec
from sim.model.logs import AttemptWriter
from sim.model.rates import RunOption
from sim.units import Micros

__all__ = ["Executor", "Run", "Stay", "noise"]

_COMPLETION = Order.COMPLETION
_USER_ENDS = {"cancelled": "cancelled by its user", "failed": "failed by an error of its own"}


class Executor:
    """Starts, completes and interrupts stays, and keeps their records."""

    def __init__(
        self,
        env: Clock,
        checkpoint: CheckpointSpec,
        horizon_us: Micros,
        *,
        on_freed: Callable[[Stay], None],
        on_again: Callable[[Run, Micros], None],
        finds: Callable[[Run, Stay], bool],
        on_ended: Callable[[Run], None],
    ) -> None:
        self.env = env
        self.checkpoint = checkpoint
        self._by_rule = checkpoint.rule != "fixed"
        self.horizon_us = horizon_us
        self.on_freed = on_freed
        """Called when a job has left its cards."""
        self.on_again = on_again
        """Called when a job is to be run again from the beginning, from an instant on."""
        self.finds = finds
        """Whether somebody sees that a job's result is bad."""
        self.on_ended = on_ended
        """Called when a job is over: nothing more happens to it."""
        self.keeps_history = False
        """Whether some disks have snapshots, so that the past of jobs matters."""
        self.pacer = Pacer(env, self._complete)
        """Plans the ends of stays on divided cards."""
        self.attempts = AttemptWriter()
        self._completes = self._complete

    @property
    def now(self) -> Micros:
        """The clock, integer microseconds."""
        return self.env.now_us

    def start(self, run: Run, pool: Pool, option: RunOption, cards: list[Card]) -> None:
        """Put a waiting job on cards that `Pool.take` gave."""
        now = self.env.now_us
        shares = pool.shares
        if shares and isinstance(pool, SharedPool):
            stay = pool.enter(run, option, cards, now)
        else:
            stay = Stay(run, pool, option, cards, now)
            for card in cards:
                card.held_by = run
        run.wait_us += now - run.queued_us
        run.state, run.stay = "running", stay
        run.version += 1
        run.gpus, run.offer = len(cards), pool.spec.offer
        first = run.first_start_us is None
        stay.startup_us = option.startup_us if first else option.restart_us
        if option.stage_key is not None:
            stay.startup_us = self._staged(stay.startup_us, stay, option.stage_key)
        if shares and isinstance(pool, SlicedPool):
            stay.startup_us += pool.prepare(stay, now)
        self._plan(run, stay)
        if first:
            run.first_start_us = now
        if shares and isinstance(stay, SharedStay):
            stay.plain = False
            if isinstance(stay, PacedStay):
                self.pacer.begins(stay)
                return
        length, limit, stop = stay.length_us, run.limit_us, stay.stop_us
        if limit is not None and limit < length:
            length = limit
        if stop is not None and stop < length:
            length = stop
        stay.subject, stay.version, stay.callback = run, run.version, self._completes
        self.env.put(now + length, _COMPLETION, stay)

    def _staged(self, startup: Micros, stay: Stay, model: str) -> Micros:
        """Start-up of a stay whose base model must be fetched first, unless its machines have it."""
        # One transfer a machine: who comes while the model is on its way waits for the rest of it.
        machines = {card.machine.ordinal: card.machine for card in stay.cards}.values()
        comes = self.now + stay.option.stage_us
        there = max(machine.fetched.setdefault(model, comes) for machine in machines)
        return startup + max(0, there - self.now)

    def _resume(self, run: Run, stay: Stay, total: Micros) -> None:
        """Carry saved work over to the speed of these cards; work on a lost disk is gone."""
        if run.saved_where is not None and disk_lost(run):
            _, saved, kept = restored(run)
            stay.voided_card_us = run.kept_card_us - kept
            run.kept_card_us, run.saved_us = kept, saved
            forget_clean(run)
        if total != run.total_us:
            run.saved_us = run.saved_us * total // run.total_us
            run.bad_us = None if run.bad_us is None else run.bad_us * total // run.total_us

    def _plan(self, run: Run, stay: Stay) -> None:
        """How much work is left, and how long that and its checkpoints take here."""
        option = stay.option
        work = run.work * option.us_per_work
        if option.speed_noise:
            work *= noise(run.job, option)
        total = round(work) or 1
        if run.total_us:
            self._resume(run, stay, total)
        run.total_us = total
        card = run.saved_where = stay.cards[0]
        run.saved_epoch = card.machine.disk_epoch
        remaining = stay.remaining_us = total - run.saved_us
        if self.keeps_history:
            stay.before_us, stay.before_card_us, stay.total_us = run.saved_us, run.kept_card_us, total
            stay.ended_us, stay.gain_us = None, 0
            run.history = [*(run.history or ()), stay]
        spec = self.checkpoint
        cost = stay.cost_us = option.checkpoint_us if spec.cost_us is None else spec.cost_us
        every = interval(spec.rule, cost, interruptions(stay)) if self._by_rule else spec.every_us
        if every is None or remaining <= every:
            stay.every_us = (remaining or 1) if every is None else every
            stay.length_us = stay.startup_us + remaining
        else:
            stay.every_us = every
            stay.pieces = pieces = -(-remaining // every)
            stay.length_us = stay.startup_us + remaining + (pieces - 1) * cost
        end = user_end(run) if run.ends else None
        if end is not None:
            stay.plain = False
            stop = round(end.share * total) if end.after_us is None else min(end.after_us, total)
            stay.stop_us = reached(stay, max(0, stop - run.saved_us))

    def _complete(self, moment: Timed) -> None:
        run: Run = moment.subject
        if run.version != moment.version or run.stay is None:
            return
        stay = run.stay
        now = self.env.now_us
        elapsed = now - stay.start_us
        where = run.saved_where
        if (
            stay.plain
            and elapsed >= stay.length_us
            and run.bad_us is None
            and (where is None or where.machine.disk_epoch == run.saved_epoch)
        ):
            self._finish(run, stay, now)
            return
        if stay.paced and isinstance(stay, PacedStay):
            elapsed = stay.own_time(elapsed)
        if stay.stop_us is not None and elapsed >= stay.stop_us:
            self._end_by_user(run)
            return
        done = elapsed >= stay.length_us
        if done and run.bad_us is not None and self.finds(run, stay):
            self._leave(run, "bad_result", saves=False, voids=True)
            run.redone += 1
            run.state, run.queued_us = "waiting", now
            self.on_again(run, now)
            return
        run.state = "done" if done else "killed"
        if not done:
            run.reason = "ran into its time limit"
        self._leave(run, run.state, saves=done)
        run.end_us = now
        self.on_ended(run)

    def _finish(self, run: Run, stay: Stay, now: Micros) -> None:
        """The end of a job with which all went well, as it does most times: what `_record` comes to."""
        pool, cards, length = stay.pool, stay.cards, stay.length_us
        ordinals = [card.ordinal for card in cards] if len(cards) > 1 else (cards[0].ordinal,)
        self.attempts.add(
            run.id, pool.spec.offer, pool.burst, ordinals,
            stay.start_us, now, "done", stay.startup_us, (stay.pieces - 1) * stay.cost_us,
            stay.remaining_us, 0, stay.voided_card_us,
        )  # fmt: skip
        pool.give_back(cards, now, stay.start_us)
        run.state, run.stay, run.end_us = "done", None, now
        run.run_us += length
        run.version += 1
        self.on_freed(stay)
        self.on_ended(run)

    def _end_by_user(self, run: Run) -> None:
        end = user_end(run)
        if end is None:
            return
        again = None if end.retry_after_us is None else self.now + end.retry_after_us
        run.state, run.reason = end.kind, _USER_ENDS[end.kind]
        if end.kind == "cancelled":
            self._leave(run, "cancelled", saves=False)
        elif again is None or again >= self.horizon_us:
            self._leave(run, "failed", saves=False, voids=True)
        else:
            self._leave(run, "retried", saves=False, voids=True, pause_us=again - self.now)
            run.submissions += 1
            self.on_again(run, again)
            run.end_us = self.now
            return
        run.end_us = self.now
        self.on_ended(run)

    def resubmit(self, run: Run, released_us: Micros) -> None:
        """A job that failed by itself has been submitted again; it begins anew."""
        run.pause_us += released_us - (run.end_us or 0)
        run.state, run.reason, run.end_us = "waiting", "", None
        run.queued_us = run.released_us = released_us

    def fail(self, run: Run, kind: str) -> None:
        """The job's process dies now; its cards stay held until `interrupt` (the failure is noticed)."""
        stay = run.stay
        if stay is None or stay.failed is not None:
            return
        stay.failed, stay.failed_us = kind, self.now - stay.start_us
        run.version += 1

    def interrupt(self, run: Run, cause: str, *, saves: bool) -> None:
        """Take a job off its cards. `saves`: it writes a checkpoint first (a planned interruption)."""
        self._leave(run, cause, saves=saves)
        if saves:
            run.saved_where = None  # a planned move takes the files along
        run.state = "waiting"
        run.queued_us = self.now
        run.interruptions += 1

    def cut(self, runs: Sequence[Run], horizon_us: Micros) -> None:
        """The horizon: close the records of all that runs."""
        for run in runs:
            self._record(run, horizon_us, "horizon", saves=True)

    def _leave(self, run: Run, ended: str, *, saves: bool, voids: bool = False, pause_us: Micros = 0) -> None:
        stay = run.stay
        if stay is None:
            msg = f"job {run.job.id} leaves its cards but is on none"
            raise RuntimeError(msg)
        now = self.env.now_us
        self._record(run, now, ended, saves=saves, voids=voids, pause_us=pause_us)
        stay.pool.give_back(stay.cards, now, stay.start_us)
        run.stay = None
        run.version += 1
        self.on_freed(stay)

    def _record(
        self, run: Run, now: Micros, ended: str, *, saves: bool, voids: bool = False, pause_us: Micros = 0
    ) -> None:
        """Write the attempt; what the stay saved becomes the job's saved work. `voids`: nothing counts."""
        stay = run.stay
        if stay is None:
            return
        elapsed = now - stay.start_us
        alive = elapsed if stay.failed is None else stay.failed_us
        shared = stay.shared
        if saves and alive == stay.length_us and not shared:  # all went well, as it does most times
            startup, checkpoints = stay.startup_us, (stay.pieces - 1) * stay.cost_us
            work = saved = stay.remaining_us
        else:
            startup, checkpoints, work, saved = stay.split(alive)
        if saves and stay.failed is None:
            saved = work
        where = run.saved_where
        if voids:
            stay.voided_card_us += forget(run)
            saved = 0
        elif where is not None and disk_lost(run):
            found, at_snapshot, kept = restored(run)
            if found is stay:
                saved = at_snapshot - stay.before_us
            else:
                stay.voided_card_us += run.kept_card_us - kept
                run.saved_us, run.kept_card_us, saved = at_snapshot, kept, 0
        run.saved_us += saved
        if run.bad_us is not None and run.state != "done":
            forget_clean(run)
        run.run_us += elapsed
        if self.keeps_history:
            stay.ended_us, stay.gain_us = now, saved
            stay.left_epoch = stay.cards[0].machine.disk_epoch
        card_us: Micros | None = None
        if shared and isinstance(stay, SharedStay):
            work, saved, card_us = stay.close(now, alive - startup - checkpoints, work, saved)
            run.kept_card_us += saved * card_us // elapsed if elapsed else 0
        else:
            run.kept_card_us += saved * len(stay.cards)
        pool = stay.pool
        self.attempts.add(
            run.job.id, pool.spec.offer, pool.burst, [card.ordinal for card in stay.cards],
            stay.start_us, now, ended, startup, checkpoints, saved,
            work - saved + elapsed - alive, stay.voided_card_us, pause_us, card_us,
        )  # fmt: skip
