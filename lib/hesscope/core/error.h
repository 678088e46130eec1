// SPDX-License-Identifier: BSD-3-Clause
//
// The library's exceptions, all of them std::exceptions. Which one is thrown says whose mistake it
// was, and the hesscope program turns each into its exit code. Numerical failure is not an
// exception: it is returned as a Status.
#pragma once

#include <stdexcept>
#include <string>

namespace hesscope {

/// A documented precondition of a public function was broken by the caller (a programming error).
/// The message names the function, the argument, and what was expected and found.
class PreconditionError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// A problem file or an option has an invalid value or key: unknown key, wrong type, out of range.
/// The message names the file, the line and the key. Program exit code 2.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An input file (checkpoint or data) is missing, damaged, or does not fit the model. The message
/// names the file, the tensor, and the expected and found shape. Program exit code 3.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An output could not be written or the environment refused something. The message names the path
/// and the operation. Program exit code 1.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Another run holds the output. Program exit code 4.
class LockedError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A computation stopped because its progress callback returned false or a stop was requested; this
/// is nobody's mistake. Program exit code 129, 130 or 143, depending on the signal that requested
/// it.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted: the caller asked to stop") {}
};

}  // namespace hesscope
