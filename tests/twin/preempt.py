"""The twin's preemption: an urgent job takes the cards of less urgent ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.twin.cards import Card
from tests.twin.life import Life, Moved

if TYPE_CHECKING:
    from tests.twin.rules import Decider

__all__ = ["preempt"]


def preempt(decider: Decider, head: Life):
    """Throw off the fewest jobs that make room for the first of the queue; returns its place, or None."""
    world, now = decider.world, decider.now
    ripe = [
        life
        for life in world.lives
        if life.stay is not None
        and life.stay.failed is None
        and life.job.priority < head.job.priority
        and decider.key(life) > decider.key(head)
        and now - life.stay.start >= decider.parameters.preempt_after_us
    ]
    ripe.sort(key=lambda life: (life.job.priority, -life.stay.start, -life.job.id))
    best = None
    for number, (pool, option) in enumerate(decider.ways(head)):
        places = [pool.machines] if option.spans else [[machine] for machine in pool.machines]
        for machines in places:
            cards = [
                card
                for machine in machines
                if machine.leased and machine.open
                for card in machine.cards
                if not card.down and not card.reserved
            ]
            victims = choose(cards, option.gpus, ripe)
            if victims:
                last = max(ripe.index(victim) for victim in victims)
                rank = len(victims), last, number, machines[0].ordinal
                if best is None or rank < best[0]:
                    best = rank, victims, pool, option, machines
    if best is None:
        return None
    _, victims, pool, option, machines = best
    for victim in victims:
        victim.process.interrupt(Moved("preempted"))
    yield world.env.timeout(0)  # they save their state and go
    if option.spans:
        return pool, option, pool.find(option.gpus, True, decider.rule)
    return pool, option, machines[0].free_cards[: option.gpus]


def choose(cards: list[Card], needed: int, ripe: list[Life]) -> list[Life] | None:
    """The victims in one place: taken in order until there is room, then whoever is not needed is spared."""

    def room(victims: list[Life]) -> int:
        return sum(card.holder is None or card.holder in victims for card in cards)

    taken: list[Life] = []
    for life in ripe:
        if room(taken) >= needed:
            break
        if any(card.holder is life for card in cards):
            taken.append(life)
    if room(taken) < needed:
        return None
    for life in reversed(taken.copy()):
        without = [other for other in taken if other is not life]
        if room(without) >= needed:
            taken = without
    return taken
