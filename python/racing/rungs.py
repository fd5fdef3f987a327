"""Where the files of an earlier version of a solution are: put together by the grader."""
import functools
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GRADER, VERSIONS = ROOT / "out/bin/grader", ROOT / "out/versions"


@functools.cache
def together():
    if not GRADER.exists():
        raise SystemExit(f"earlier versions are put together by {GRADER}, which is not there: make grader")
    subprocess.run([GRADER, "overlay", "-versions", "-o", VERSIONS], check=True, cwd=ROOT)


def rung(solution, file):
    """A file of a solution's folder; of a version, with what it takes from others beside it."""
    if not file.startswith("_versions/"):
        return solution / file
    together()
    return VERSIONS / solution.resolve().relative_to(ROOT) / file
