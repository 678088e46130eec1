// SPDX-License-Identifier: BSD-3-Clause
//
// The options of a subcommand, without a word of the command line parser. An option is declared
// once: that gives its place in the help, what it takes, and how it is written again when the
// command is recorded.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <hesscope/core/settings.h>

namespace hesscope::cli {

/// An option, or a positional argument, as it was declared.
struct Option {
  enum class Kind {
    kFlag,         ///< takes no value; may be given several times
    kValue,        ///< one value; of several the last counts
    kRepeated,     ///< given once for each value
    kPositional,   ///< one argument
    kPositionals,  ///< arguments
  };

  std::string names;  ///< "--name" or "-n,--name"; of a positional argument "NAME"
  std::string value_name = {};
  std::string help = {};
  std::string group = {};
  Kind kind = Kind::kValue;
  bool is_required = false;
  bool is_recorded = true;
  std::vector<std::string> choices =
      {};                   ///< what completion offers as a value; other values may do
  bool takes_list = false;  ///< values are separated by commas
  int num_given = 0;        ///< how often it was

  /// What it goes with: without that it would have no effect. Asked once all options are taken.
  struct Company {
    std::string what;  ///< "--method distributed"
    std::function<bool()> is_there;
  };

  std::vector<Company> goes_with = {};
  bool stands_alone = false;  ///< nothing but how it is said goes with it
  bool says_how = false;      ///< how something is printed: goes with everything

  /// Takes a value, of a flag that it is given. @returns what is wrong with it, or nothing.
  std::function<std::string(const std::string& given)> take = {};

  /// As it would be given again, after a space; empty where it has the value it had when it was
  /// declared.
  std::function<std::string()> written = {};

  /// "--name" of "-n,--name".
  std::string long_name() const { return names.substr(names.rfind(',') + 1); }

  bool is_positional() const { return kind == Kind::kPositional || kind == Kind::kPositionals; }

  /// The command cannot do without it.
  Option& required();

  /// Given without this it would have no effect, and is refused. @param what "--method
  /// distributed".
  Option& only_with(const std::string& what, std::function<bool()> is_there);

  /// Given with any other but those of how to print, these would have no effect, and are refused;
  /// positional arguments, too, unless they are required.
  Option& alone();

  /// It cannot change a result, so that it is no part of the recorded command.
  Option& unrecorded();

  /// Completion offers these as values.
  Option& offering(std::vector<std::string> values);
};

/// Receives a subcommand's options. Names are written "--name" or "-n,--name"; positional
/// arguments as "NAME". They are recorded in the order in which they are declared. Targets must
/// outlive the table.
class OptionTable {
 public:
  /// What is declared from here on stands under this title in the help, below what is there
  /// already: "Input", "Output", "Running" in every command, and its own titles.
  void group(const std::string& title);

  Option& flag(const std::string& names, bool& target, const std::string& help);

  /// --json and --quiet.
  void how_to_print(bool& json, bool& quiet, const std::string& on_quiet = "Print nothing");

  /// A flag that counts how often it is given.
  Option& counted_flag(const std::string& names, int& target, const std::string& help);

  Option& text(const std::string& names,
               std::string& target,
               const std::string& value_name,
               const std::string& help);

  /// -o,--output: a file, or a folder of files. "-" is none, and standard output never is one.
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

  /// Given once for each value; a value may hold commas.
  Option& repeated(const std::string& names,
                   std::vector<std::string>& target,
                   const std::string& value_name,
                   const std::string& help);

  /// Given once for each number, which is finite.
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

  /// Any whole number from 0 on.
  Option& seed(const std::string& names, std::uint64_t& target, const std::string& help);

  /// An option --KEY for a key that a component declares; values[KEY] is set where it is given. A
  /// boolean key is a flag. All of `values` is recorded, by name, where its first key is declared.
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

  /// The options that have been given and can change a result, as they would be given again, quoted
  /// for a shell and each after a space.
  std::string recorded() const;

  /// What is wrong with the options that have been given, taken together; empty if nothing.
  std::string misfit() const;

  /// A message of the library, which calls settings and members of requests by `name`, in the words
  /// of this command line: --name, where there is such an option; and functions as command_of()
  /// does, see library_names.h.
  std::string with_flags(const std::string& message) const;

 private:
  Option& add(const std::string& names,
              const std::string& value_name,
              const std::string& help,
              Option::Kind kind);

  // An option with one value, recorded where `target` is another than now.
  template <typename Value>
  Option& value(const std::string& names,
                Value& target,
                const std::string& value_name,
                const std::string& help,
                std::function<std::string(const std::string&)> take);

  // "--name", or nothing where there is no such option.
  std::string flag_of(const std::string& name) const;

  std::deque<Option> options_;  // whose references stay valid
  std::vector<std::string> groups_;
  std::string group_ = "Options";
  std::vector<const void*> recorded_maps_;
};

}  // namespace hesscope::cli
