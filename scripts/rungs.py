"""Where the files of an earlier version of a solution are, for the races: put together by the grader."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def rung(solution, file):
    """A file of a solution's folder; of a version, with what it takes from others beside it."""
    if not file.startswith("_versions/"):
        return solution / file
    grader, versions = ROOT / "out/bin/grader", ROOT / "out/versions"
    if not grader.exists():
        sys.exit(f"{file} is put together by {grader}, which is not there: make grader")
    subprocess.run([grader, "overlay", "-versions", "-o", versions], check=True, cwd=ROOT)
    return versions / solution.resolve().relative_to(ROOT) / file
