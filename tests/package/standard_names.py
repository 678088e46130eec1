# SPDX-License-Identifier: BSD-3-Clause
"""Which standard headers declare a name of std that public headers use."""

import re

# Header -> names that it declares; a name of several headers is served by any of them.
DECLARES = {
    "algorithm": "all_of copy_n",
    "any": "any",
    "array": "array get size_t",
    "atomic": "atomic memory_order_relaxed",
    "charconv": "from_chars",
    "chrono": "chrono",
    "cmath": "abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fdim floor "
             "fma fmod hypot isfinite isinf isnan isnormal lerp log log10 log1p log2 nearbyint pow remainder rint round "
             "signbit sin sinh sqrt tan tanh tgamma trunc",
    "compare": "partial_ordering",
    "concepts": "convertible_to integral same_as",
    "cstddef": "byte nullptr_t ptrdiff_t size_t",
    "cstdint": "int8_t int32_t int64_t uint8_t uint32_t uint64_t",
    "ctime": "clock timespec",
    "deque": "deque",
    "exception": "exception_ptr",
    "filesystem": "filesystem",
    "functional": "function",
    "initializer_list": "initializer_list",
    "iterator": "begin",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "memory": "addressof shared_ptr unique_ptr",
    "numbers": "numbers",
    "optional": "nullopt optional",
    "ranges": "ranges",
    "set": "set",
    "span": "size_t span",
    "stdexcept": "invalid_argument runtime_error",
    "stop_token": "stop_token",
    "string": "size_t string",
    "string_view": "size_t string_view",
    "system_error": "errc",
    "type_traits": "conditional_t invoke_result_t is_arithmetic_v is_base_of_v is_same_v is_signed_v remove_cvref_t",
    "unordered_map": "unordered_map",
    "utility": "get move pair swap",
    "variant": "get monostate variant",
    "vector": "begin size_t vector",
}
HEADERS_OF = {}
for header, names in DECLARES.items():
    for name in names.split():
        HEADERS_OF.setdefault(name, []).append(header)

# Comments and literals, which name what they do not use.
SILENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
INCLUDED = re.compile(r"^\s*#\s*include\s*<([a-z_]+)>", re.MULTILINE)
USED = re.compile(r"\bstd::(\w+)")


def missing_standard_headers(text):
    """One line for each name of std that a header uses and whose header it does not include itself."""
    included = set(INCLUDED.findall(text))
    for name in dict.fromkeys(USED.findall(SILENT.sub("", text))):
        headers = HEADERS_OF.get(name)
        if headers is None:
            yield f"std::{name} is of a header that standard_names.py does not know: name it there"
        elif not included.intersection(headers):
            yield f"std::{name} needs " + " or ".join(f"<{header}>" for header in headers)
