"""The alarms that only SFT has: problems of a model that learns from recordings. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from rehearsal_trainer.metrics.alarm_kind import (
    FEW,
    AlarmKind,
    Finding,
    Limit,
    Limits,
    Row,
    at_least,
    compared,
    values_of,
)

SFT_LIMITS: Mapping[str, Limit] = {
    "loss_growth": Limit(1.5, "multiple of the run's first losses above which the loss of SFT diverges"),
    "loss_share": Limit(0.75, "share of the fall in loss that must be lost again for the loss to diverge"),
    "loss_least": Limit(0.3, "fall of the loss below which losing it again is ignored"),
    "grad_norm": Limit(1000, "norm of SFT's gradient, before clipping, at which it explodes"),
    "grad_growth": Limit(10, "multiple of the median of the window at which the norm also explodes"),
    "grad_least": Limit(5, "norm of the gradient below which its growth is ignored"),
    "too_long": Limit(0.1, "share of the recordings that are left out because they are longer than `context`"),
    "overfit": Limit(
        0.05, "share by which the validation loss must exceed its lowest value for `patience` measurements in a row"
    ),
}
"""The limits of these alarms, by name."""


def _loss_divergence(rows: Sequence[Row], limits: Limits) -> Finding | None:
    values = values_of(rows, "loss")
    patience, window = int(limits["patience"]), int(limits["window"])
    if "loss" not in rows[-1] or len(values) < FEW + patience:
        return None
    first, now = median(values[:FEW]), min(values[-patience:])
    if now > limits["loss_growth"] * first:
        return f"the loss rose from {first:.3g} to {values[-1]:.3g}", {
            "loss": values[-1],
            "before": first,
            "limit": limits["loss_growth"] * first,
        }
    # Compared with the median of a window, because one easy batch is not progress that could be lost.
    ends = range(FEW, len(values) - patience + 1)
    best = min(median(values[max(0, end - window) : end]) for end in ends)
    most = best + limits["loss_share"] * (first - best)
    if first - best < limits["loss_least"] or now <= most:
        return None
    said = f"the loss had fallen from {first:.3g} to {best:.3g} and is {values[-1]:.3g}"
    return said, {"loss": values[-1], "before": best, "limit": most}


def _gradient_explosion(rows: Sequence[Row], limits: Limits) -> Finding | None:
    now, before = compared(rows, "grad_norm", limits)
    if now is None:
        return None
    if now >= limits["grad_norm"]:
        return f"the norm of the gradient is {now:.3g}", {"grad_norm": now, "limit": limits["grad_norm"]}
    if before is None or now < limits["grad_least"] or now <= limits["grad_growth"] * before:
        return None
    said = f"the norm of the gradient is {now:.3g}; it was {before:.3g}"
    return said, {"grad_norm": now, "before": before, "limit": limits["grad_growth"] * before}


def _overfitting(rows: Sequence[Row], limits: Limits) -> Finding | None:
    measured = [at for at, row in enumerate(rows) if "validation_loss" in row]
    patience, window = int(limits["patience"]), int(limits["window"])
    if len(measured) <= patience:
        return None
    losses = [rows[at]["validation_loss"] for at in measured]
    lowest = min(losses[:-patience])
    most = (1 + limits["overfit"]) * lowest
    at_lowest, now = measured[losses.index(lowest)], measured[-1]
    then = values_of(rows[: at_lowest + 1], "loss")[-window:] or values_of(rows, "loss")[:FEW]
    trained = values_of(rows[: now + 1], "loss")[-window:]
    if min(losses[-patience:]) <= most or not then or median(trained) >= median(then):
        return None
    said = (
        f"the validation loss was {lowest:.3g} and is {losses[-1]:.3g}, while the training loss fell from "
        f"{median(then):.3g} to {median(trained):.3g}"
    )
    return said, {"validation_loss": losses[-1], "lowest": lowest, "limit": most, "loss": median(trained)}


SFT_KINDS: Mapping[str, AlarmKind] = {
    "loss-divergence": AlarmKind(
        _loss_divergence,
        "`loss` is above {loss_growth:g} times its first values {patience:g} optimizer steps in a row, or has risen "
        "by {loss_share:.0%} of its fall, if that was {loss_least:g} or more.",
        "The model loses what it had learned. Lower {learning_rate}, raise {warmup_steps}, or enlarge {batch}.",
        runs=("sft",),
    ),
    "gradient-explosion": AlarmKind(
        _gradient_explosion,
        "`grad_norm` reaches {grad_norm:g}, or jumps above both {grad_least:g} and {grad_growth:g} times the median of "
        "the last {window:g} optimizer steps.",
        "One batch moves the weights too far. Lower {learning_rate}, raise {warmup_steps}, or look for unusual "
        "recordings.",
        runs=("sft",),
    ),
    "rows-too-long": AlarmKind(
        at_least("too_long", "too_long", "{value:.0%} of the recordings are longer than context and are left out"),
        "{too_long:.0%} of the recordings are longer than `context` and left out.",
        "The model does not learn from long conversations, so it will not know how they end. Raise {context}, or "
        "record shorter ones.",
        runs=("sft",),
    ),
    "overfitting": AlarmKind(
        _overfitting,
        "`validation_loss` is {overfit:.0%} above its lowest, {patience:g} measurements in a row, while `loss` fell; "
        "needs `validation_share`.",
        "The model memorizes the recordings. Stop here and use an earlier checkpoint, lower {epochs} or "
        "{learning_rate}, or record more tasks.",
        runs=("sft",),
    ),
}
"""The alarms that only SFT has, by name."""
