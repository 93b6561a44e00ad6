"""The Human Evaluation Datasheet 3.0 (Belz and Thomson 2025), filled in as far as a protocol and its sample know.

The result is the JSON that the form at https://nlp-heds.github.io downloads and uploads: for each field its value, by
the name of the quality criterion in section 4. Fields that only people can answer (contact, payment, expertise, ethics)
are left out; the form marks them as blank.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from espalier.judging.agreement import COEFFICIENTS
from espalier.judging.power import Power
from espalier.judging.protocol import Criterion
from espalier.judging.sample import PAIR_WORDS, Sample
from espalier.judging.score import MAY_FAIL, Panel

#: A field as the form stores it.
Field = dict[str, dict[str, str | bool]]

_DESIGN: Final = "heds-sample_evaluators_design-"
_CRITERION: Final = "heds-criteria-criterion"
_ELICITATION: Final = f"{_CRITERION}-response_elicitation-"


def heds(sample: Sample, panel: Panel | None = None, power: Power | None = None) -> dict[str, Field]:
    """The form.

    Args:
        panel: result, once there are ratings.
        power: that of the sample for the difference that matters.
    """
    protocol = sample.protocol
    judged = sum(item.repeats is None and not item.expected for item in sample.items)
    raters = len(panel.raters if panel else sample.orders)
    fields: dict[str, Field] = {
        "heds-paper_and_resources-paper-experiment_identification": _text(f"{protocol.title} (protocol {sample.name})"),
        f"{_DESIGN}sample-number_of_system_outputs": _text(
            f"{judged} evaluation items of {len(protocol.systems)} systems for {protocol.inputs} inputs"
        ),
        **_choice(f"{_DESIGN}sample-system_output_selection", *_selection(sample)),
        f"{_DESIGN}sample-statistical_power-method": _text(
            "simulation of panels with random effects of inputs, texts and raters (espalier judge power)"
            if power
            else "N/A"
        ),
        f"{_DESIGN}sample-statistical_power-value": _text(
            f"{power.power:.2f} with {power.inputs} inputs" if power else "N/A"
        ),
        f"{_DESIGN}sample-statistical_power-script": _text("src/espalier/judging/power.py" if power else "N/A"),
        f"{_DESIGN}evaluators-number_of_evaluators": _text(str(raters)),
        f"{_DESIGN}experimental_design-collection_method": _text(
            "an HTML page for each evaluator that works without network and saves JSON, or the same questions as CSV"
        ),
        f"{_DESIGN}experimental_design-quality_assurance-description": _text(_quality(sample)),
        f"{_DESIGN}experimental_design-what_evaluators_see-description": _text(
            f"{protocol.note} Above the texts: {', '.join(protocol.given) or 'nothing'}. The systems are not shown, "
            "and each evaluator has a random order."
        ),
        **_choice(
            f"{_DESIGN}experimental_design-experimental_conditions",
            1,
            "1. Evaluators carry out assessments at a place of their own choosing",
        ),
        _CRITERION: {
            "data": {},
            "control": {name: place == 0 for place, name in enumerate(protocol.criteria)},
            "text": {},
        },
    }
    for name, criterion in protocol.criteria.items():
        for field, value in _of_criterion(sample, name, criterion, panel).items():
            known = fields.setdefault(field, {"data": {}, "control": {}})
            for part, entries in value.items():
                known.setdefault(part, {}).update(entries)
    return fields


def _selection(sample: Sample) -> tuple[int, str]:
    if sample.protocol.spread:
        return 2, "2. By an automatic random process but using stratified sampling over given properties"
    return 1, "1. By simple automatic random selection"


def _quality(sample: Sample) -> str:
    protocol = sample.protocol
    return (
        f"{protocol.checks} attention checks and {protocol.repeated} repeated items for each evaluator. Evaluators who "
        f"answer more than {100 * MAY_FAIL:.0f} % of the checks wrongly are named; results are given with and without "
        "them."
    )


def _of_criterion(sample: Sample, name: str, criterion: Criterion, panel: Panel | None) -> Mapping[str, Field]:
    """Section 4 for one criterion."""
    design = sample.protocol.design
    if design == "scale":
        values = [f"{value} ({meaning})" if meaning else value for value, meaning in criterion.named]
    elif design == "pairs":
        values = list(PAIR_WORDS.values())
    else:
        values = [f"text {place}" for place in range(1, 1 + max(len(item.texts) for item in sample.items))]
    relative = design != "scale"
    agreement = panel.agreement[name] if panel else ()
    scores = "; ".join(
        f"{COEFFICIENTS[each.coefficient]} {each.value:.3f}" for each in agreement if each.value is not None
    )
    return {
        **_choice(f"{_CRITERION}-evaluation_mode-objective_or_subjective", 2, "2. Subjective", name),
        **_choice(
            f"{_CRITERION}-evaluation_mode-absolute_or_relative",
            2 if relative else 1,
            "2. Relative" if relative else "1. Absolute",
            name,
        ),
        **_choice(f"{_CRITERION}-evaluation_mode-intrinsic_or_extrinsic", 1, "1. Intrinsic", name),
        f"{_ELICITATION}participant_criterion_name": _text(name, name),
        f"{_ELICITATION}size_of_scale": _text(str(len(values)), name),
        f"{_ELICITATION}list_or_range": _text(", ".join(values), name),
        **_choice(f"{_ELICITATION}scale_presented_as", 1, "1. Multiple-choice options", name),
        f"{_ELICITATION}task_description": _text("N/A", name),
        f"{_ELICITATION}verbatim_question": _text(criterion.question, name),
        **_choice(
            f"{_ELICITATION}form_of_response",
            3 if relative else 2,
            "3. Relative quality estimation (including ranking)" if relative else "2. Direct quality estimation",
            name,
        ),
        f"{_ELICITATION}response_aggregation": _text(
            {
                "scale": "means over all ratings of a system, and shares of each level",
                "pairs": "shares of win, tie and loss over all ratings of a pair of systems",
                "best_worst": "the share of best minus the share of worst, over all ratings of a system",
            }[design],
            name,
        ),
        f"{_ELICITATION}effect_size_method": _text(
            "difference of means with a 95 % interval over inputs and evaluators, two-sided p, Holm's correction over "
            "all claims",
            name,
        ),
        f"{_ELICITATION}inter_annotator-agreement": _text(", ".join(COEFFICIENTS.values()), name),
        f"{_ELICITATION}inter_annotator-agreement_score": _text(scores or "no ratings yet", name),
    }


def _text(value: str, criterion: str = "") -> Field:
    return {"data": {criterion: value}, "control": {}}


def _choice(name: str, number: int, label: str, criterion: str = "") -> dict[str, Field]:
    """A chosen option of a question."""
    return {f"{name}-{number}": {"data": {criterion: True}, "control": {}, "text": {criterion: label}}}
