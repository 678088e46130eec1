// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/plot/markup.h>
#include <hesscope/report/internal/html.h>

namespace hesscope::report {
namespace {

std::string begun(std::string_view tag, const Html::Attributes& attributes) {
  std::string html = "<";
  html += tag;
  for (const auto& [name, value] : attributes) {
    html += ' ';
    html += name;
    html += "=\"" + xml_text(value) + "\"";
  }
  return html + ">";
}

}  // namespace

void Html::open(std::string_view tag, const Attributes& attributes) {
  html_ += begun(tag, attributes);
  open_.emplace_back(tag);
}

void Html::close() {
  if (open_.empty()) throw PreconditionError("Html::close: nothing is open");
  html_ += "</" + open_.back() + ">";
  open_.pop_back();
}

void Html::text(std::string_view text) { html_ += xml_text(text); }

void Html::marked_up(std::string_view text) {
  using Level = plot::TextRun::Level;
  for (const plot::TextRun& run : plot::parse_markup(text)) {
    const char* const tag = run.level == Level::kRaised ? "sup" : "sub";
    if (run.level == Level::kNormal) {
      this->text(run.text);
    } else {
      element(tag, run.text);
    }
  }
}

void Html::element(std::string_view tag, std::string_view content, const Attributes& attributes) {
  open(tag, attributes);
  text(content);
  close();
}

void Html::single(std::string_view tag, const Attributes& attributes) {
  html_ += begun(tag, attributes);
}

std::string Html::take() && {
  if (!open_.empty()) throw PreconditionError("Html::take: <" + open_.back() + "> is not closed");
  return std::move(html_);
}

}  // namespace hesscope::report
