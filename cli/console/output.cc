#include "cli/console/output.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/problem.h"
#include "base/text.h"
#include "json/yaml.h"
#include "offline/results_json.h"

namespace mindgate::cli {
namespace {

constexpr std::string_view kJsonPath = "jsonpath";
constexpr size_t kGap = 3;

// The width of a text; each character counts as one column.
size_t WidthOf(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

// The format as shown in help.
std::string HelpOfFormat(const std::string& format) {
  return format == kJsonPath ? "jsonpath=TEMPLATE" : format;
}

std::vector<std::string> AllShown(const std::vector<std::string>& formats) {
  std::vector<std::string> shown;
  for (const std::string& format : formats) shown.push_back(HelpOfFormat(format));
  return shown;
}

}  // namespace

Result<OutputFormat> ParseOutputFormat(std::string_view text,
                                       const std::vector<std::string>& formats) {
  const size_t equals = std::min(text.find('='), text.size());
  const std::string word(text.substr(0, equals));
  const bool known = std::find(formats.begin(), formats.end(), word) != formats.end();
  const bool takes_template = word == kJsonPath;
  if (!known || (equals < text.size() && !takes_template)) {
    const std::vector<std::string> shown = AllShown(formats);
    const std::vector<std::string_view> words(shown.begin(), shown.end());
    const auto near = known ? std::optional<std::string_view>(word) : NearestOf(word, formats);
    return Fail(ErrorCode::kInvalidArgument,
                Quote(text) + " is not supported: write " + OneOf(words) +
                    (near ? "; did you mean " + Quote(*near) + "?" : ""));
  }
  OutputFormat format(word.c_str());
  if (!takes_template) return format;
  if (text.size() <= equals + 1) {
    return Fail(ErrorCode::kInvalidArgument,
                "jsonpath has no template: write -o jsonpath='{.metadata.name}', in quotes");
  }
  auto path = JsonPath::Parse(text.substr(equals + 1));
  if (!path) return tl::unexpected(std::move(path).error());
  format.path = *std::move(path);
  return format;
}

CLI::Option* AddOutputOption(CLI::App& command, OutputFormat& format,
                             const std::vector<std::string>& formats, const std::string& variable) {
  return command
      .add_option_function<std::string>(
          "-o,--output",
          [&format, formats](const std::string& text) {
            auto parsed = ParseOutputFormat(text, formats);
            if (!parsed) throw CLI::ValidationError("--output", parsed.error().message());
            format = *std::move(parsed);
          },
          "Output format")
      ->default_str(format.word)
      ->envname("MINDGATE_" + variable)
      ->type_name(Join(AllShown(formats), "|"));
}

int PrintOutput(const OutputFormat& format, const Printers& printers, Streams& io) {
  if (format.path) {
    const auto text = format.path->Print(printers.document());
    if (!text) {
      PrintError(io.err, text.error().message());
      return kExitUnusable;
    }
    io.out << *text;
  } else if (format.Is("json")) {
    io.out << offline::Dump(printers.document()) << "\n";
  } else if (format.Is("yaml")) {
    io.out << json::EncodeYaml(json::Json(printers.document()));
  } else if (format.Is("name")) {
    for (const std::string& name : printers.names()) io.out << name << "\n";
  } else {
    printers.text(io.out, format.Is("wide"));
  }
  return kExitDone;
}

void Table::Print(const Paint& paint, std::ostream& out) const {
  std::vector<size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths.at(i) = std::max(widths.at(i), WidthOf(row[i].text));
    }
  }
  for (size_t line = 0; line < rows_.size(); ++line) {
    const auto& row = rows_[line];
    size_t filled = row.size();  // without empty cells at the end
    while (filled > 0 && row[filled - 1].text.empty()) --filled;
    for (size_t i = 0; i < filled; ++i) {
      const auto color = line == 0 ? Color::kBold : row[i].color;
      out << (color ? paint(*color, row[i].text) : row[i].text);
      if (i + 1 < filled) out << std::string(widths[i] + kGap - WidthOf(row[i].text), ' ');
    }
    out << "\n";
  }
}

}  // namespace mindgate::cli
