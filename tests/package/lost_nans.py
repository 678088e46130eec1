# SPDX-License-Identifier: BSD-3-Clause
"""No test passes over a NaN: lost_nans.py FOLDER...

Of a vector with a NaN, Eigen's maxCoeff(), minCoeff() and lpNorm<Infinity>() mostly give the largest of its other
entries, and stableNorm() may give zero: a wrong result would be within every tolerance. The tests take
maxCoeff<Eigen::PropagateNaN>(), or what is in support/maxima.h. Where the greatest entry is, maxCoeff(&place) may say.
"""
import pathlib
import re
import sys

LOSES_NAN = re.compile(
    r"\b(?:max|min)Coeff\s*(?:<(?!\s*(?:Eigen::)?PropagateNaN\s*>)[^>]*>\s*)?\(\s*\)"
    r"|\blpNorm\s*<\s*(?:Eigen::)?Infinity\s*>\s*\("
    r"|\bstableNorm(?:alize|alized)?\s*\(\s*\)")
COMMENT = re.compile(r"//.*")


def lossy_calls(text):
    """(line, call) of each."""
    code = COMMENT.sub("", text)
    for call in LOSES_NAN.finditer(code):
        yield code.count("\n", 0, call.start()) + 1, " ".join(call[0].split())


def check_itself():
    for line in ("EXPECT_LE((a - b).cwiseAbs().maxCoeff(), 1e-12);", "a.array().abs()\n    .minCoeff();",
                 "a->maxCoeff( )", "a.maxCoeff<Eigen::PropagateNumbers>()",
                 "a.template minCoeff<Eigen::PropagateFast>()", "a.lpNorm<Eigen::Infinity>()",
                 "a.template lpNorm<Infinity>()", "a.stableNorm()", "a.stableNormalize();"):
        assert list(lossy_calls(line)), line
    for line in ("a.maxCoeff<Eigen::PropagateNaN>()", "a.template minCoeff<Eigen::PropagateNaN>()",
                 "a.maxCoeff(&place);", "test::largest_difference(a, b)", "// as Eigen's maxCoeff()", "a.lpNorm<1>()",
                 "a.norm()"):
        assert not list(lossy_calls(line)), line


def main():
    check_itself()
    files = [file for folder in sys.argv[1:] for file in sorted(pathlib.Path(folder).rglob("*"))
             if file.suffix in (".cc", ".h")]
    assert len(files) > 300, "few files: are these the tests?"
    found = [f"{file}:{line}: {call} may lose a NaN: take what is in support/maxima.h, or PropagateNaN"
             for file in files for line, call in lossy_calls(file.read_text())]
    print("\n".join(found) or f"{len(files)} files")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
