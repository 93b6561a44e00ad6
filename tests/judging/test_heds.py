"""The datasheet has the form's own fields and numbers, and says what the protocol, the sample and the result know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from toy_judging import BEST_WORST, PAIRS, SCALE, rows_of

from espalier.judging.answers import merged
from espalier.judging.heds import NUMBERS, heds
from espalier.judging.power import Power
from espalier.judging.sample import Sample
from espalier.judging.score import judged
from espalier.judging.simulate import simulated

Make = Callable[..., Sample]
SAMPLE, DESIGN = (f"heds-sample_evaluators_design-{part}-" for part in ("sample", "experimental_design"))
PART = "heds-criteria-criterion-response_elicitation-"
#: Ids of controls of the form at https://nlp-heds.github.io (nlp-heds.github.io, index.html, commit 16f0ce96), with the
#: numbers of their questions; of questions with options, the options that the kit chooses from.
FORM = {
    "heds-paper_and_resources-paper-experiment_identification": "1.1.2",
    "heds-system-tasks-8": "2.3", "heds-system-tasks-10": "2.3", "heds-system-tasks-13": "2.3",
    "heds-system-input_languages-30": "2.4", "heds-system-input_languages-42": "2.4",
    "heds-system-output_languages-30": "2.5", "heds-system-output_languages-42": "2.5",
    SAMPLE + "number_of_system_outputs": "3.1.1",
    SAMPLE + "system_output_selection-1": "3.1.2", SAMPLE + "system_output_selection-2": "3.1.2",
    SAMPLE + "statistical_power-method": "3.1.3.1",
    SAMPLE + "statistical_power-value": "3.1.3.2",
    SAMPLE + "statistical_power-script": "3.1.3.3",
    "heds-sample_evaluators_design-evaluators-number_of_evaluators": "3.2.1",
    DESIGN + "collection_method": "3.3.2",
    DESIGN + "quality_assurance-method-2": "3.3.3.1", DESIGN + "quality_assurance-method-4": "3.3.3.1",
    DESIGN + "quality_assurance-method-7": "3.3.3.1",
    DESIGN + "quality_assurance-description": "3.3.3.2",
    DESIGN + "what_evaluators_see-description": "3.3.4.2",
    DESIGN + "experimental_conditions-1": "3.3.7",
    "heds-criteria-criterion-evaluation_mode-objective_or_subjective-2": "4.2.1",
    "heds-criteria-criterion-evaluation_mode-absolute_or_relative-1": "4.2.2",
    "heds-criteria-criterion-evaluation_mode-absolute_or_relative-2": "4.2.2",
    "heds-criteria-criterion-evaluation_mode-intrinsic_or_extrinsic-1": "4.2.3",
    PART + "qc_name-participant_criterion_name": "4.3.1.1",
    PART + "participant_criterion_definiiton": "4.3.2",
    PART + "size_of_scale": "4.3.3",
    PART + "list_or_range": "4.3.4",
    PART + "scale_presented_as-1": "4.3.5", PART + "scale_presented_as-4": "4.3.5",
    PART + "task_description": "4.3.6",
    PART + "verbatim_question": "4.3.7",
    PART + "form_of_response-2": "4.3.8", PART + "form_of_response-3": "4.3.8",
    PART + "response_aggregation": "4.3.9",
    PART + "effect_size_method": "4.3.10",
    PART + "inter_annotator-agreement": "4.3.11.1",
    PART + "inter_annotator-agreement_score": "4.3.11.2",
    PART + "intra_annotator-intra_annotator_agreement": "4.3.12.1",
    PART + "intra_annotator-intra_annotator_agreement_score": "4.3.12.2",
}  # fmt: skip


def said(form: dict[str, Any], field: str, criterion: str = "") -> object:
    return form[field]["data"][criterion]


def test_every_field_is_one_of_the_form_under_its_number(make_sample: Make) -> None:
    used = set[str]()
    for design in (SCALE, PAIRS, BEST_WORST):
        for task, language in (("verse", "zh"), ("dialogue", "zh"), ("paraphrase", "en"), ("compose", "en")):
            for checks, spread in ((0, "tune"), (4, "")):
                sample = make_sample(design, checks=checks, spread=spread, repeated=checks)
                sample = sample.model_copy(update={"language": language})
                files = simulated(sample, dict.fromkeys(sample.protocol.systems, 2.0), seed=1, careless=["rater_3"])
                found = judged(sample, merged(files, sample))
                panel = found.passed or found.everyone
                form = heds(sample, task=task, power=Power(40, 0.83, 0.02), panel=panel, raters=found.raters)
                control = form.pop("heds-criteria-criterion")
                assert list(control["control"].values()) == [True, *[False] * (len(sample.protocol.criteria) - 1)]  # type: ignore[union-attr]
                assert {field: value["number"] for field, value in form.items()} == {
                    field: FORM[field] for field in form
                }
                for field, value in form.items():  # as the form stores its fields; text is that of a chosen option
                    assert value.keys() == {"data", "control", "number"} | (
                        {"text"} if field[-1].isdecimal() else set()
                    )
                    criteria = {""} if not field.startswith("heds-criteria") else set(sample.protocol.criteria)
                    assert set(value["data"]) == criteria
                    assert (set(value["data"].values()) == {True}) == ("text" in value)  # type: ignore[union-attr]
                used |= form.keys()
    assert used == FORM.keys()  # and no field of the list is never written
    assert set(NUMBERS.values()) == set(FORM.values())


def test_what_is_not_known_is_left_to_people(make_sample: Make) -> None:
    form = heds(make_sample())
    assert not any(word in field for field in form for word in ("ethics", "contact", "power", "payment", "tasks"))
    assert said(form, PART + "inter_annotator-agreement_score", "style") == "no ratings yet"
    assert said(form, PART + "intra_annotator-intra_annotator_agreement", "style") == "IntraAA not assessed"


def test_a_scale_is_described_for_each_criterion(make_sample: Make) -> None:
    form = heds(make_sample(checks=2, repeated=3), task="paraphrase")
    assert form[PART + "list_or_range"]["data"] == {"fluency": "1 (bad), 2, 3 (good)", "style": "0 (no), 1 (yes)"}
    assert form[PART + "size_of_scale"]["data"] == {"fluency": "3", "style": "2"}
    assert said(form, PART + "participant_criterion_definiiton", "fluency") == "1: bad; 3: good"
    assert said(form, SAMPLE + "number_of_system_outputs") == "12"
    assert said(form, PART + "intra_annotator-intra_annotator_agreement_score", "style") == "no ratings yet"
    assert form["heds-system-tasks-13"]["text"] == {"": "13. Paraphrasing/lossless simplification"}


def test_the_number_of_texts_has_its_reason_where_systems_differ(make_sample: Make) -> None:
    rows = {"chain": rows_of("chain"), "tree": [row | {"text": " "} for row in rows_of("tree")]}
    field = SAMPLE + "number_of_system_outputs"
    assert said(heds(make_sample(rows=rows)), field) == "chain 12, tree 0: texts without words are not rated"
    assert said(heds(make_sample(PAIRS)), field) == (
        "chain 24, tree 12, reference 12: the first system stands in each pair"
    )


def test_a_set_has_a_task_and_no_scale(make_sample: Make) -> None:
    form = heds(make_sample(BEST_WORST))
    assert said(form, PART + "size_of_scale", "fluency") == said(form, PART + "list_or_range", "fluency") == "N/A"
    task = said(form, PART + "task_description", "fluency")
    assert task == "name the best and the worst of a set of 3 texts; both names are recorded"


@pytest.mark.parametrize("repeated", [0, 3])
def test_the_result_fills_in_raters_power_and_agreement(make_sample: Make, repeated: int) -> None:
    sample = make_sample(checks=6, repeated=repeated)
    files = simulated(sample, {"chain": 1.6, "tree": 2.4}, seed=1, careless=["rater_3"])
    found = judged(sample, merged(files, sample))
    form = heds(sample, power=Power(40, 0.83, 0.02), panel=found.passed, raters=found.raters)
    assert said(form, "heds-sample_evaluators_design-evaluators-number_of_evaluators") == "2"
    assert "Fleiss' kappa" in str(said(form, PART + "inter_annotator-agreement_score", "fluency"))
    assert said(form, SAMPLE + "statistical_power-value") == "0.83 with 40 inputs"
    assert DESIGN + "quality_assurance-method-4" in form  # rater_3 is left out
    assert DESIGN + "quality_assurance-method-4" not in heds(sample, panel=found.everyone, raters=found.raters)
    again = str(said(form, PART + "intra_annotator-intra_annotator_agreement_score", "fluency"))
    assert again.startswith("rater_1 ") == (repeated > 0)
