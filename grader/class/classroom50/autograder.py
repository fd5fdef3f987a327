#!/usr/bin/env python3
"""Grades a flashlab submission on Classroom 50, and writes its result.json.

Put it into the classroom's repository as CLASSROOM/autograders/ASSIGNMENT/autograder.py, or as CLASSROOM/autograder.py
for all assignments. Beside it may lie the release's zip, flashlab-*.zip: the submission is then graded by that tree and
not by the student's own. The assignment's name says which task is graded: task2, lab-b4; any other, tasks 1 to 7.

Scores are whole numbers there, so they are hundredths of a point. No release has the hidden cases, and no runner has a
GPU: these points are in no score here. The grade is what `grader batch` says.
"""

import datetime
import glob
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

SCHEMA = "classroom50/result/v1"
# What a grading may see of the runner's variables: none of its tokens.
KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "GOPATH", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOTOOLCHAIN", "CXX")


def task_of(assignment):
    """The task that an assignment's name ends with; "" for all."""
    found = re.search(r"(?:^|[-_])(?:task)?[-_]?(b?[0-9])$", assignment)
    return found.group(1) if found else ""


def course(checkout, bundle, into):
    """The tree that grades: the release's beside this script, or else the student's own."""
    zips = sorted(glob.glob(os.path.join(bundle, "flashlab-*.zip"))) if bundle else []
    if not zips:
        return checkout, "the student's own tree"
    with zipfile.ZipFile(zips[-1]) as archive:
        for info in archive.infolist():
            path = archive.extract(info, into)
            mode = info.external_attr >> 16 & 0o777
            if mode and not info.is_dir():
                os.chmod(path, mode)
    for makefile in sorted(pathlib.Path(into).glob("*/Makefile")) + sorted(pathlib.Path(into).glob("Makefile")):
        return makefile.parent, os.path.basename(zips[-1])
    raise RuntimeError(f"{zips[-1]} holds no release: there is no Makefile in it")


def grade(tree, checkout, task, out):
    """Runs the grader; its results.json."""
    env = {name: os.environ[name] for name in KEPT if name in os.environ}
    env["GITHUB_ACTIONS"] = ""
    subprocess.run(["make", "grader"], cwd=tree, env=env, check=True)
    command = ["out/bin/grader", "grade", "DEVICE=sim", f"OUT={out}"]
    command += [f"TASK={task}"] if task else []
    command += [] if os.path.samefile(tree, checkout) else [f"SUBMISSION={checkout}"]
    code = subprocess.run(command, cwd=tree, env=env, check=False).returncode
    if code not in (0, 1):  # 1: not all points
        raise RuntimeError(f"the grader ended with code {code}; its output is above")
    return json.loads((pathlib.Path(out) / "results.json").read_text())


def hundredths(points):
    return round(100 * points)


def tests_of(results):
    """The grader's tests, in the runner's form."""
    tests = []
    for one in results["tests"]:
        most = hundredths(one["max_score"])
        score = min(hundredths(one["score"]), most)
        tests.append({"test-name": one["name"], "passed": one["status"] == "passed", "score": score, "max-score": most})
    return tests


def result_of(tests, now):
    """result.json, whose texts are the runner's own."""
    env = os.environ.get
    commit = env("COMMIT_URL", "")
    return {
        "schema": SCHEMA,
        "classroom": env("CLASSROOM", ""),
        "assignment": env("ASSIGNMENT", ""),
        "assignment_type": env("ASSIGNMENT_TYPE") or "individual",
        "owner": env("OWNER") or env("USERNAME", ""),
        "submission": env("SUBMISSION_TAG", ""),
        "commit": commit,
        "release": env("RELEASE_URL", ""),
        "review": env("REVIEW_URL") or commit,
        "datetime": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "score": sum(test["score"] for test in tests),
        "max-score": sum(test["max-score"] for test in tests),
        "tests": tests,
    }


def body_of(result, results, graded_by):
    """The release's page."""
    lines = [f"### {result['score'] / 100:g} of {result['max-score'] / 100:g} points", "",
             f"Graded in the simulator by {graded_by}, without hidden cases and without times on a GPU.", "",
             "| part | points |", "| --- | --- |"]
    for test in result["tests"]:
        name = test["test-name"].replace("|", "/")
        lines.append(f"| {name} | {test['score'] / 100:g} of {test['max-score'] / 100:g} |")
    fence = "~~~~"
    output = results.get("output", "").replace(fence, "~~~")
    if output:
        lines += ["", fence, output[:2000], fence]
    return "\n".join(lines) + "\n"


def main():
    checkout = os.getcwd()
    with tempfile.TemporaryDirectory() as work:
        tree, graded_by = course(checkout, os.environ.get("CLASSROOM50_BUNDLE_DIR", ""), os.path.join(work, "course"))
        out = os.path.join(work, "results")
        results = grade(tree, checkout, task_of(os.environ.get("ASSIGNMENT", "")), out)
    result = result_of(tests_of(results), datetime.datetime.now(datetime.timezone.utc))
    pathlib.Path("result.json").write_text(json.dumps(result, indent=2) + "\n")
    pathlib.Path("release-body.md").write_text(body_of(result, results, graded_by))
    print(f"{result['score'] / 100:g} of {result['max-score'] / 100:g} points, by {graded_by}")


if __name__ == "__main__":
    try:
        main()
    except (RuntimeError, OSError, subprocess.CalledProcessError, ValueError, KeyError) as error:
        sys.exit(f"autograder: {error}")
