"""The Human Evaluation Datasheet 3.0 (Belz and Thomson 2025), filled in as far as a protocol and its sample know.

The result is the JSON that the form at https://nlp-heds.github.io downloads and uploads: for each field its value, by
the name of the quality criterion in section 4, and the number of its question. The names of fields, the numbers and the
labels of options are the form's own, read from its page of commit 16f0ce96; the answers are ours. Fields that only
people can answer (contact, payment, expertise, ethics) are left out; the form marks them as blank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from espalier.judging.agreement import COEFFICIENTS
from espalier.judging.power import Power
from espalier.judging.protocol import Criterion
from espalier.judging.sample import PAIR_WORDS, Sample
from espalier.judging.score import MAY_FAIL, Panel, RaterLine
from espalier.text.language import Language

#: A field as the form stores it.
Field = dict[str, "str | dict[str, str | bool]"]

_SYSTEM: Final = "heds-system-"
_SAMPLE: Final = "heds-sample_evaluators_design-sample-"
_EVALUATORS: Final = "heds-sample_evaluators_design-evaluators-"
_DESIGN: Final = "heds-sample_evaluators_design-experimental_design-"
_CRITERION: Final = "heds-criteria-criterion"
_MODE: Final = f"{_CRITERION}-evaluation_mode-"
_ELICITATION: Final = f"{_CRITERION}-response_elicitation-"

#: The option that raters who failed checks were left out.
LEFT_OUT: Final = f"{_DESIGN}quality_assurance-method-4"
#: The numbers of the questions that are answered here, by field.
NUMBERS: Final = {
    "heds-paper_and_resources-paper-experiment_identification": "1.1.2",
    f"{_SYSTEM}tasks": "2.3",
    f"{_SYSTEM}input_languages": "2.4",
    f"{_SYSTEM}output_languages": "2.5",
    f"{_SAMPLE}number_of_system_outputs": "3.1.1",
    f"{_SAMPLE}system_output_selection": "3.1.2",
    f"{_SAMPLE}statistical_power-method": "3.1.3.1",
    f"{_SAMPLE}statistical_power-value": "3.1.3.2",
    f"{_SAMPLE}statistical_power-script": "3.1.3.3",
    f"{_EVALUATORS}number_of_evaluators": "3.2.1",
    f"{_DESIGN}collection_method": "3.3.2",
    f"{_DESIGN}quality_assurance-method": "3.3.3.1",
    f"{_DESIGN}quality_assurance-description": "3.3.3.2",
    f"{_DESIGN}what_evaluators_see-description": "3.3.4.2",
    f"{_DESIGN}experimental_conditions": "3.3.7",
    f"{_MODE}objective_or_subjective": "4.2.1",
    f"{_MODE}absolute_or_relative": "4.2.2",
    f"{_MODE}intrinsic_or_extrinsic": "4.2.3",
    f"{_ELICITATION}qc_name-participant_criterion_name": "4.3.1.1",
    f"{_ELICITATION}participant_criterion_definiiton": "4.3.2",  # so it is spelt there
    f"{_ELICITATION}size_of_scale": "4.3.3",
    f"{_ELICITATION}list_or_range": "4.3.4",
    f"{_ELICITATION}scale_presented_as": "4.3.5",
    f"{_ELICITATION}task_description": "4.3.6",
    f"{_ELICITATION}verbatim_question": "4.3.7",
    f"{_ELICITATION}form_of_response": "4.3.8",
    f"{_ELICITATION}response_aggregation": "4.3.9",
    f"{_ELICITATION}effect_size_method": "4.3.10",
    f"{_ELICITATION}inter_annotator-agreement": "4.3.11.1",
    f"{_ELICITATION}inter_annotator-agreement_score": "4.3.11.2",
    f"{_ELICITATION}intra_annotator-intra_annotator_agreement": "4.3.12.1",
    f"{_ELICITATION}intra_annotator-intra_annotator_agreement_score": "4.3.12.2",
}
#: The form's options for the tasks of our runs; a task without one is left to people.
_TASKS: Final = {
    "dialogue": (10, "10. Dialogue turn generation"),
    "paraphrase": (13, "13. Paraphrasing/lossless simplification"),
    "verse": (8, "8. Feature-controlled text generation"),
}
#: Tasks whose inputs are texts.
_FROM_TEXT: Final = ("dialogue", "paraphrase")
_LANGUAGES: Final[dict[Language, tuple[int, str]]] = {"en": (42, "41. English"), "zh": (30, "29. Chinese")}
_NO_RATINGS: Final = "no ratings yet"


def heds(
    sample: Sample,
    *,
    task: str = "",
    power: Power | None = None,
    panel: Panel | None = None,
    raters: Sequence[RaterLine] = (),
) -> dict[str, Field]:
    """The form.

    Args:
        task: task of the judged runs.
        power: that of the sample for the difference that matters; None if it was not computed.
        panel: result, once there are ratings.
        raters: all raters, among them those who are left out of the result.
    """
    protocol = sample.protocol
    stratified = (2, "2. By an automatic random process but using stratified sampling over given properties")
    left_out = {line.rater for line in raters} - set(panel.raters if panel else ())
    answers = [
        _text(
            "heds-paper_and_resources-paper-experiment_identification",
            f"{protocol.title} (protocol {sample.name}, sample {sample.hash}): {', '.join(protocol.criteria)} of "
            f"texts by {', '.join(protocol.systems)}",
        ),
        *([_choice(f"{_SYSTEM}tasks", *_TASKS[task])] if task in _TASKS else []),
        *([_choice(f"{_SYSTEM}input_languages", *_LANGUAGES[sample.language])] if task in _FROM_TEXT else []),
        _choice(f"{_SYSTEM}output_languages", *_LANGUAGES[sample.language]),
        _text(f"{_SAMPLE}number_of_system_outputs", _outputs(sample)),
        _choice(
            f"{_SAMPLE}system_output_selection",
            *(stratified if protocol.spread else (1, "1. By simple automatic random selection")),
        ),
        *(_power(power) if power else []),
        _text(f"{_EVALUATORS}number_of_evaluators", str(len(panel.raters if panel else sample.orders))),
        _text(
            f"{_DESIGN}collection_method",
            "an HTML page for each evaluator that works without network and saves JSON, or the same questions as CSV",
        ),
        *_quality_assurance(sample, bool(left_out)),
        _text(
            f"{_DESIGN}what_evaluators_see-description",
            f"{protocol.note} Above the texts: {', '.join(protocol.given) or 'nothing'}. The systems are not shown, "
            "and each evaluator has a random order.",
        ),
        _choice(
            f"{_DESIGN}experimental_conditions", 1,
            "1. Evaluators carry out assessments at a place of their own choosing",
        ),
    ]  # fmt: skip
    for name, criterion in protocol.criteria.items():
        answers += _of_criterion(sample, name, criterion, panel, raters)
    control: dict[str, str | bool] = {name: place == 0 for place, name in enumerate(protocol.criteria)}
    form: dict[str, Field] = {_CRITERION: {"data": {}, "control": control, "text": {}}}
    for field, answer in answers:
        for part, value in answer.items():
            known = form.setdefault(field, {}).setdefault(part, value)
            if isinstance(known, dict) and isinstance(value, dict):
                known |= value
    return form


def _outputs(sample: Sample) -> str:
    """The number of rated texts of each system: one number if it is the same for all."""
    rated = [item for item in sample.items if item.repeats is None]
    counts = Counter(source.system for item in rated for sources in item.sources for source in sources)
    first, *others = (counts[system] for system in sample.protocol.systems)
    if all(other == first for other in others):
        return str(first)
    each = ", ".join(f"{system} {counts[system]}" for system in sample.protocol.systems)
    why = {
        "scale": "texts without words are not rated",
        "pairs": "the first system stands in each pair",
        "best_worst": "a set has some of the systems",
    }
    return f"{each}: {why[sample.protocol.design]}"


def _power(power: Power) -> list[tuple[str, Field]]:
    field = f"{_SAMPLE}statistical_power-"
    method = "simulation of panels with random effects of inputs, texts and raters (espalier judge power)"
    return [
        _text(f"{field}method", method),
        _text(f"{field}value", f"{power.power:.2f} with {power.inputs} inputs"),
        _text(f"{field}script", "src/espalier/judging/power.py"),
    ]


def _quality_assurance(sample: Sample, left_out: bool) -> list[tuple[str, Field]]:
    field, protocol = f"{_DESIGN}quality_assurance-method", sample.protocol
    if not protocol.checks:
        none = _choice(field, 7, "7. None of the above (no quality assurance methods used)")
        return [none, _text(f"{_DESIGN}quality_assurance-description", "N/A")]
    chosen = [_choice(field, 2, "2. Automatic quality checking methods are used during and/or after evaluation")]
    if left_out:
        label = "4. Evaluators are excluded if they fail quality checks (often or badly enough)"
        chosen.append(_choice(field, 4, label))
    description = (
        f"{protocol.checks} attention checks and {protocol.repeated} repeated items for each evaluator. Evaluators who "
        f"answer more than {100 * MAY_FAIL:.0f} % of the checks wrongly are named; results are given with and without "
        "them."
    )
    return [*chosen, _text(f"{_DESIGN}quality_assurance-description", description)]


def _of_criterion(
    sample: Sample, name: str, criterion: Criterion, panel: Panel | None, raters: Sequence[RaterLine]
) -> list[tuple[str, Field]]:
    """Section 4 for one criterion."""
    design = sample.protocol.design
    relative = (3, "3. Relative quality estimation (including ranking)")
    agreement = panel.agreement[name] if panel else ()
    scores = "; ".join(
        f"{COEFFICIENTS[each.coefficient]} {each.value:.3f}" for each in agreement if each.value is not None
    )
    again = "; ".join(f"{line.rater} {line.same} of {line.again}" for line in raters if line.again)
    meanings = [f"{value}: {meaning}" for value, meaning in criterion.named if meaning]
    repeated = sample.protocol.repeated > 0
    texts = {
        "qc_name-participant_criterion_name": name,
        "participant_criterion_definiiton": "; ".join(meanings) or "no definition given",
        **_instrument(sample, criterion),
        "verbatim_question": criterion.question,
        "response_aggregation": {
            "scale": "means over all ratings of a system, and shares of each level",
            "pairs": "shares of win, tie and loss over all ratings of a pair of systems",
            "best_worst": "the share of best minus the share of worst, over all ratings of a system",
        }[design],
        "effect_size_method": "difference of means with a 95 % interval over inputs and evaluators, two-sided p, "
        "Holm's correction over all claims",
        "inter_annotator-agreement": ", ".join(COEFFICIENTS.values()),
        "inter_annotator-agreement_score": scores or _NO_RATINGS,
        "intra_annotator-intra_annotator_agreement": (
            "the number of repeated questions, of all criteria, that an evaluator answered as before"
            if repeated
            else "IntraAA not assessed"
        ),
        "intra_annotator-intra_annotator_agreement_score": (
            again or _NO_RATINGS if repeated else "IntraAA not assessed"
        ),
    }
    none = (4, "4. N/A (there is no rating instrument)")
    choices = {
        f"{_MODE}objective_or_subjective": (2, "2. Subjective"),
        f"{_MODE}absolute_or_relative": (1, "1. Absolute") if design == "scale" else (2, "2. Relative"),
        f"{_MODE}intrinsic_or_extrinsic": (1, "1. Intrinsic"),
        f"{_ELICITATION}scale_presented_as": none if design == "best_worst" else (1, "1. Multiple-choice options"),
        f"{_ELICITATION}form_of_response": (2, "2. Direct quality estimation") if design == "scale" else relative,
    }
    return [
        *(_choice(field, *chosen, name) for field, chosen in choices.items()),
        *(_text(f"{_ELICITATION}{field}", value, name) for field, value in texts.items()),
    ]


def _instrument(sample: Sample, criterion: Criterion) -> Mapping[str, str]:
    """The scale; of sets, which have none, the task."""
    if sample.protocol.design == "best_worst":
        size = max(len(item.texts) for item in sample.items)
        task = f"name the best and the worst of a set of {size} texts; both names are recorded"
        return {"size_of_scale": "N/A", "list_or_range": "N/A", "task_description": task}
    values = [f"{value} ({meaning})" if meaning else value for value, meaning in criterion.named]
    values = values or list(PAIR_WORDS.values())
    return {"size_of_scale": str(len(values)), "list_or_range": ", ".join(values), "task_description": "N/A"}


def _text(field: str, value: str, criterion: str = "") -> tuple[str, Field]:
    return field, {"data": {criterion: value}, "control": {}, "number": NUMBERS[field]}


def _choice(field: str, option: int, label: str, criterion: str = "") -> tuple[str, Field]:
    """A chosen option of a question."""
    known: Field = {"data": {criterion: True}, "control": {}, "text": {criterion: label}, "number": NUMBERS[field]}
    return f"{field}-{option}", known
