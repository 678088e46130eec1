// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/analysis/internal/result_reading.h>
#include <hesscope/core/ascii.h>
#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/report/internal/result_parts.h>

namespace hesscope::report {
namespace {

using figures::Source;

constexpr std::size_t kMostRows = 2000;

const std::string kNotProved = "not proved";
const std::string kWholeRun = "the whole run";

bool is_status(const Group& group, const Variable& variable) {
  constexpr std::string_view kEnd = "_status";
  const std::string& name = variable.name;
  return name.ends_with(kEnd) && group.find(name.substr(0, name.size() - kEnd.size())) != nullptr;
}

// The dimension of a result's checkpoints.
std::string rows_dimension(const io::ResultReader& result) {
  const Variable* const step = result.find("", "step");
  return step == nullptr || step->dimensions.size() != 1 ? "" : step->dimensions.front();
}

bool has_numbers(const Group& group, const Variable& variable) {
  return variable.type != VariableType::kText && variable.type != VariableType::kOther &&
         variable.name != "step" && !is_status(group, variable);
}

bool is_by_checkpoint(const io::ResultReader& result,
                      const Group& group,
                      const Variable& variable) {
  return variable.dimensions == std::vector{rows_dimension(result)} && has_numbers(group, variable);
}

bool is_of_run(const Group& group, const Variable& variable) {
  return variable.shape.empty() && has_numbers(group, variable);
}

// Reads the cells of a variable, one for each number.
class ColumnReader {
 public:
  ColumnReader(const io::ResultReader& result, const std::string& group)
      : result_(result), group_(group) {}

  std::vector<Cell> read(const Variable& listed) const {
    const Variable variable = result_.read(group_, listed.name);
    const std::vector<double> numbers = variable.numbers();
    const std::vector<Status> statuses =
        detail::read_statuses(result_, group_, listed.name, numbers.size());
    const std::vector<bool> unproved =
        figures::read_unproved(result_, group_, listed.name, numbers.size());
    std::vector<Cell> cells;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const Status status = i < statuses.size() ? statuses[i] : Status::kOk;
      cells.push_back(cell_of(variable, numbers[i], status, unproved[i]));
    }
    return cells;
  }

 private:
  static Cell cell_of(const Variable& variable, double value, Status status, bool is_unproved) {
    if (status != Status::kOk)
      return {.text = as_words(to_string(status)), .kind = Cell::Kind::kMissing};
    if (!std::isfinite(value)) return {.text = "missing", .kind = Cell::Kind::kMissing};
    const std::vector<std::string>& meanings = variable.flag_meanings;
    const bool is_unset = variable.type == VariableType::kInt8 && !meanings.empty() && value < 0;
    if (is_unset) return {.text = "missing", .kind = Cell::Kind::kMissing};
    if (variable.type == VariableType::kInt8 && value >= 0 &&
        value < static_cast<double>(meanings.size())) {
      return {.text = as_words(meanings[static_cast<std::size_t>(value)]),
              .kind = Cell::Kind::kWords};
    }
    const bool is_count = variable.type != VariableType::kDouble;
    Cell cell{.text = is_count ? fmt::format("{:.0f}", value) : fmt::format("{:.6g}", value),
              .kind = Cell::Kind::kNumber,
              .value = value};
    if (is_unproved) {
      cell.text += fmt::format(" ({})", kNotProved);
      cell.kind = Cell::Kind::kUnproved;
    }
    return cell;
  }

  const io::ResultReader& result_;
  const std::string& group_;
};

// Numbers of a variable that are missing or unproved for the same reason.
struct Gap {
  std::string how_many;
  std::string why;
};

// For a variable with one number for each checkpoint, or for the whole run.
std::vector<Gap> gaps_of_column(const std::vector<Cell>& cells, bool is_of_whole_run) {
  std::map<std::string, std::size_t> reasons;
  for (const Cell& cell : cells) {
    if (cell.kind == Cell::Kind::kMissing) ++reasons[cell.text];
    if (cell.kind == Cell::Kind::kUnproved) ++reasons[kNotProved];
  }
  std::vector<Gap> gaps;
  for (const auto& [why, count] : reasons) {
    gaps.push_back(
        {is_of_whole_run ? kWholeRun : fmt::format("{} of {} checkpoints", count, cells.size()),
         why});
  }
  return gaps;
}

// For a variable with several numbers, some of which may not apply: a number counts as missing only
// if its status says so, too.
std::vector<Gap> gaps_of_array(const io::ResultReader& result,
                               const std::string& group,
                               const Variable& listed) {
  std::vector<Gap> gaps;
  const std::vector<Status> statuses = detail::read_statuses(result, group, listed.name, 0);
  if (std::ranges::any_of(statuses, [](Status status) { return status != Status::kOk; })) {
    const std::vector<double> numbers = result.read(group, listed.name).numbers();
    std::map<Status, std::size_t> reasons;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const Status status = statuses[i * statuses.size() / numbers.size()];
      if (status != Status::kOk && std::isnan(numbers[i])) ++reasons[status];
    }
    for (const auto& [status, count] : reasons) {
      gaps.push_back(
          {fmt::format("{} of {} entries", count, numbers.size()), as_words(to_string(status))});
    }
  }
  const std::string rows = rows_dimension(result);
  const bool is_by_row =
      !rows.empty() && !listed.dimensions.empty() && listed.dimensions.front() == rows;
  const std::size_t num_rows = is_by_row ? static_cast<std::size_t>(listed.shape.front()) : 1;
  const std::vector<bool> unproved = figures::read_unproved(result, group, listed.name, num_rows);
  if (const auto count = std::ranges::count(unproved, true); count > 0) {
    gaps.push_back(
        {is_by_row ? fmt::format("those of {} of {} checkpoints", count, num_rows) : kWholeRun,
         kNotProved});
  }
  return gaps;
}

std::vector<Gap> gaps_of_variable(const io::ResultReader& result,
                                  const Group& group,
                                  const Variable& variable) {
  const bool is_of_whole_run = is_of_run(group, variable);
  if (!is_of_whole_run && !is_by_checkpoint(result, group, variable)) {
    return gaps_of_array(result, group.name, variable);
  }
  return gaps_of_column(ColumnReader(result, group.name).read(variable), is_of_whole_run);
}

// Titles of columns, each once, in the order of the sources.
class ColumnTitles {
 public:
  explicit ColumnTitles(std::string group) : group_(std::move(group)) {}

  void add(const std::string& name) {
    if (places_.emplace(name, columns_.size()).second) {
      columns_.push_back({.title = name, .definition = definition_id(group_, name)});
    }
  }

  std::size_t place(const std::string& name) const { return places_.at(name); }

  const std::vector<Column>& columns() const { return columns_; }

 private:
  std::string group_;
  std::map<std::string, std::size_t> places_;
  std::vector<Column> columns_;
};

}  // namespace

std::string definition_id(const std::string& group, const std::string& name) {
  return group + "/" + name;
}

Table numbers_of(const std::string& group, std::span<const Source> sources) {
  ColumnTitles titles(group);
  for (const Source& source : sources) {
    const Group* const found = source.result->find_group(group);
    if (found == nullptr) continue;
    for (const Variable& variable : found->variables) {
      if (is_by_checkpoint(*source.result, *found, variable)) titles.add(variable.name);
    }
  }
  Table table{.id = group.empty() ? "numbers" : "numbers-" + group,
              .title = group.empty() ? "Loss and gradient" : as_words(group)};
  if (titles.columns().empty()) return table;
  const bool is_one = sources.size() == 1;
  if (!is_one) table.columns.push_back({.title = "result"});
  table.columns.push_back({.title = "checkpoint"});
  const std::size_t before = table.columns.size();
  table.columns.insert(table.columns.end(), titles.columns().begin(), titles.columns().end());
  for (const Source& source : sources) {
    const Group* const found = source.result->find_group(group);
    if (found == nullptr || rows_dimension(*source.result).empty()) continue;
    const figures::Checkpoints checkpoints = figures::read_checkpoints(source);
    if (checkpoints.size() > kMostRows) {
      table.text += fmt::format("{} has {} rows, too many to be shown here; its file has them. ",
                                source.label,
                                checkpoints.size());
      continue;
    }
    const std::size_t first = table.rows.size();
    for (std::size_t i = 0; i < checkpoints.size(); ++i) {
      std::vector<Cell> row;
      if (!is_one) row.push_back({.text = source.label});
      row.push_back({.text = checkpoints.name_of(i)});
      row.resize(table.columns.size(), {.text = "not computed", .kind = Cell::Kind::kMissing});
      table.rows.push_back(std::move(row));
    }
    const ColumnReader reader(*source.result, group);
    for (const Variable& variable : found->variables) {
      if (!is_by_checkpoint(*source.result, *found, variable)) continue;
      std::vector<Cell> cells = reader.read(variable);
      for (std::size_t i = 0; i < std::min(cells.size(), checkpoints.size()); ++i) {
        table.rows[first + i][before + titles.place(variable.name)] = std::move(cells[i]);
      }
    }
  }
  return table;
}

Table run_numbers_of(const std::string& group, std::span<const Source> sources) {
  Table table{.id = group.empty() ? "run-numbers" : "run-numbers-" + group,
              .title = as_words(group) + ", of a whole run"};
  table.columns = {{.title = "quantity"}};
  std::map<std::string, std::size_t> places;
  std::size_t column = 0;
  for (const Source& source : sources) {
    table.columns.push_back({.title = sources.size() == 1 ? "value" : source.label});
    ++column;
    const Group* const found = source.result->find_group(group);
    if (found == nullptr) continue;
    for (const Variable& variable : found->variables) {
      if (!is_of_run(*found, variable)) continue;
      const auto [at, is_new] = places.emplace(variable.name, table.rows.size());
      if (is_new) table.rows.push_back({{.text = variable.name}});
      std::vector<Cell>& row = table.rows[at->second];
      row.resize(column, {.text = "not computed", .kind = Cell::Kind::kMissing});
      row.push_back(ColumnReader(*source.result, group).read(variable).front());
    }
  }
  for (std::vector<Cell>& row : table.rows) {
    row.resize(table.columns.size(), {.text = "not computed", .kind = Cell::Kind::kMissing});
  }
  return table;
}

Table gaps_of(std::span<const Source> sources) {
  Table table{.id = "gaps", .title = "Missing and unproved numbers"};
  table.columns = {
      {.title = "result"}, {.title = "quantity"}, {.title = "how many"}, {.title = "why"}};
  for (const Source& source : sources) {
    for (const Group& group : source.result->groups()) {
      for (const Variable& variable : group.variables) {
        if (!has_numbers(group, variable)) continue;
        for (const Gap& gap : gaps_of_variable(*source.result, group, variable)) {
          table.rows.push_back({{.text = source.label},
                                {.text = definition_id(group.name, variable.name)},
                                {.text = gap.how_many},
                                {.text = gap.why, .kind = Cell::Kind::kMissing}});
        }
      }
    }
  }
  return table;
}

std::vector<Definition> definitions_of(std::span<const Source> sources) {
  std::vector<Definition> definitions;
  std::set<std::string> known;
  for (const Source& source : sources) {
    for (const Group& group : source.result->groups()) {
      for (const Variable& variable : group.variables) {
        const std::string id = definition_id(group.name, variable.name);
        const bool says_something = !variable.long_name.empty() || !variable.definition.empty();
        if (is_status(group, variable) || !says_something || !known.insert(id).second) continue;
        definitions.push_back(
            {.id = id,
             .name = id,
             .long_name = variable.long_name,
             .text = variable.definition,
             .references = fmt::format("{}", fmt::join(variable.references, "; "))});
      }
    }
  }
  return definitions;
}

}  // namespace hesscope::report
