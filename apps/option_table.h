// SPDX-License-Identifier: BSD-3-Clause
//
// The options of a subcommand, independent of the command line parser. An option is declared once:
// that determines its place in the help, what it accepts, and how it is written when the command is
// recorded.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <hesscope/core/settings.h>

namespace hesscope::cli {

/// An option, or a positional argument, as declared.
struct Option {
  enum class Kind {
    kFlag,         ///< takes no value; may be given several times
    kValue,        ///< one value; if given several times, the last counts
    kRepeated,     ///< may be given several times, each time with one value
    kPositional,   ///< one argument
    kPositionals,  ///< arguments
  };

  std::string names;  ///< "--name" or "-n,--name"; for a positional argument "NAME"
  std::string value_name = {};
  std::string help = {};
  std::string group = {};
  Kind kind = Kind::kValue;
  bool is_required = false;
  bool is_recorded = true;
  std::vector<std::string> choices =
      {};                   ///< completion offers these values; the option may accept others
  bool takes_list = false;  ///< values are separated by commas
  int num_given = 0;        ///< how often it was given

  /// Something without which the option has no effect. Checked when all options are taken.
  struct Company {
    std::string what;  ///< "--method distributed"
    std::function<bool()> is_there;
  };

  std::vector<Company> goes_with = {};
  bool stands_alone = false;  ///< only options about printing go with it
  bool says_how = false;      ///< about printing: goes with everything

  /// Takes a value; for a flag, takes that it is given. @returns what is wrong with it, or nothing.
  std::function<std::string(const std::string& given)> take = {};

  /// The option as it would be given again, after a space; empty if it has its original value.
  std::function<std::string()> written = {};

  /// "--name" for "-n,--name".
  std::string long_name() const { return names.substr(names.rfind(',') + 1); }

  bool is_positional() const { return kind == Kind::kPositional || kind == Kind::kPositionals; }

  /// Makes the option mandatory.
  Option& required();

  /// Refuses the option if this is missing, without which it would have no effect. @param what
  /// "--method distributed".
  Option& only_with(const std::string& what, std::function<bool()> is_there);

  /// Refuses any other option with this one, except those about printing, because they would have
  /// no effect; also positional arguments, unless they are required.
  Option& alone();

  /// Leaves it out of the recorded command, because it cannot change a result.
  Option& unrecorded();

  /// Sets the values that completion offers.
  Option& offering(std::vector<std::string> values);
};

/// Receives a subcommand's options. Names are written "--name" or "-n,--name"; positional arguments
/// as "NAME". They are recorded in the order of declaration. Targets must outlive the table.
class OptionTable {
 public:
  /// Everything that is declared from here on appears under this title in the help, after what is
  /// already there. Every command has "Input", "Output" and "Running", in addition to titles of its
  /// own.
  void group(const std::string& title);

  Option& flag(const std::string& names, bool& target, const std::string& help);

  /// Declares --json and --quiet.
  void how_to_print(bool& json, bool& quiet, const std::string& on_quiet = "Print nothing");

  /// A flag that counts how often it is given.
  Option& counted_flag(const std::string& names, int& target, const std::string& help);

  Option& text(const std::string& names,
               std::string& target,
               const std::string& value_name,
               const std::string& help);

  /// -o,--output: a file, or a folder of files. "-" is refused: the output is never standard
  /// output.
  Option& output(std::string& target, const std::string& value_name, const std::string& help);

  Option& choice(const std::string& names,
                 std::string& target,
                 const std::vector<std::string>& choices,
                 const std::string& help);

  /// Values separated by commas.
  Option& list(const std::string& names,
               std::vector<std::string>& target,
               const std::string& value_name,
               const std::string& help);

  /// May be given several times; a value may contain commas.
  Option& repeated(const std::string& names,
                   std::vector<std::string>& target,
                   const std::string& value_name,
                   const std::string& help);

  /// May be given several times, each time with a finite number.
  Option& reals(const std::string& names,
                std::vector<double>& target,
                const std::string& value_name,
                const std::string& help);

  Option& integer(
      const std::string& names, int& target, int minimum, int maximum, const std::string& help);

  /// A length on paper, in points (1/72 inch) or with a unit: 240, 85mm, 8.5cm, 3.4in, 240pt. The
  /// limits and the target are in points.
  Option& length(const std::string& names,
                 double& target,
                 double minimum,
                 double maximum,
                 const std::string& help);

  /// Any whole number >= 0.
  Option& seed(const std::string& names, std::uint64_t& target, const std::string& help);

  /// An option --KEY for a key that a component declares; values[KEY] is set if it is given. A
  /// boolean key is a flag. All of `values` is recorded, by name, at the place where its first key
  /// is declared.
  Option& setting(const SettingKey& key, std::map<std::string, SettingValue>& values);

  /// Any number of positional arguments.
  Option& positionals(const std::string& name,
                      std::vector<std::string>& target,
                      const std::string& help);

  /// One positional argument, which is required.
  Option& positional(const std::string& name, std::string& target, const std::string& help);

  const std::deque<Option>& options() const { return options_; }

  std::deque<Option>& options() { return options_; }

  /// Titles, in the order of the help.
  const std::vector<std::string>& groups() const { return groups_; }

  /// The given options that can change a result, as they would be given again, quoted for a shell
  /// and each after a space.
  std::string recorded() const;

  /// What is wrong with the combination of the given options; empty if nothing is.
  std::string misfit() const;

  /// A message of the library in the words of this command line. The library refers to settings and
  /// members of requests by `name`, which becomes --name if there is such an option; functions
  /// become commands by command_of(), see library_names.h.
  std::string with_flags(const std::string& message) const;

 private:
  Option& add(const std::string& names,
              const std::string& value_name,
              const std::string& help,
              Option::Kind kind);

  // An option with one value, recorded if `target` has changed by then.
  template <typename Value>
  Option& value(const std::string& names,
                Value& target,
                const std::string& value_name,
                const std::string& help,
                std::function<std::string(const std::string&)> take);

  // "--name", or nothing if there is no such option.
  std::string flag_of(const std::string& name) const;

  std::deque<Option> options_;  // a deque keeps references valid
  std::vector<std::string> groups_;
  std::string group_ = "Options";
  std::vector<const void*> recorded_maps_;
};

}  // namespace hesscope::cli
