#include "cli/console/output.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "json/yaml.h"
#include "offline/report.h"

namespace mindgate::cli {

namespace jsonpath {
namespace {

using Values = std::vector<const OrderedJson*>;

// Values visited in one Print: templates such as {..*..*..*} grow exponentially.
constexpr size_t kMaxLooks = 2'000'000;

class Printer {
 public:
  // False when it failed.
  bool Print(const std::vector<Piece>& pieces, const OrderedJson& value) {
    for (const Piece& piece : pieces) {
      if (piece.kind == Piece::Kind::kText) {
        Write(piece.text);
      } else {
        const Values found = Follow(piece.path, value);
        if (piece.kind == Piece::Kind::kRange) {
          for (const OrderedJson* each : found) {
            if (!Print(piece.pieces, *each)) return false;
          }
        } else {
          for (size_t i = 0; i < found.size(); ++i) {
            if (i > 0) Write(" ");
            Write(found[i]->is_string() ? found[i]->get_ref<const std::string&>()
                                        : offline::Dump(*found[i], -1));
          }
        }
      }
      if (fault_) return false;
    }
    return true;
  }

  Result<std::string> Take() {
    if (fault_) return tl::unexpected(*std::move(fault_));
    return std::move(out_);
  }

 private:
  Values Follow(const Path& path, const OrderedJson& from) {
    Values now = {&from};
    for (const Step& step : path.steps) {
      Values next;
      // As in kubectl, a union prints one member of all values before the next member.
      const bool is_union = step.kind == Step::Kind::kUnion;
      for (const Step& member : is_union ? std::span(step.members) : std::span(&step, 1)) {
        for (const OrderedJson* value : now) {
          if (fault_ || !Look(step)) return {};
          Take(member, *value, next);
        }
      }
      now = std::move(next);
    }
    return fault_ ? Values() : now;
  }

  void Take(const Step& step, const OrderedJson& value, Values& to) {
    if (value.is_null()) return;
    switch (step.kind) {
      case Step::Kind::kField:
        if (value.is_object()) {
          if (const auto member = value.find(step.field); member != value.end()) {
            to.push_back(&*member);
          }
        }
        return;
      case Step::Kind::kWildcard:
        if (value.is_structured()) {
          for (const OrderedJson& member : value) {
            if (!Look(step)) return;
            to.push_back(&member);
          }
        }
        return;
      case Step::Kind::kUnion:  // which Follow takes apart, and which holds no other
        return;
      case Step::Kind::kRecursive:
        return Descend(step, value, to);
      case Step::Kind::kSlice:
        return Slice(step, value, to);
      case Step::Kind::kFilter:
        if (!value.is_array()) return Fail(step, TypeText(value) + ", but a filter needs a list");
        for (const OrderedJson& item : value) {
          if (Holds(step, item)) to.push_back(&item);
          if (fault_) return;
        }
        return;
    }
  }

  // The value and everything in it. Uses an explicit stack, since the depth is that of the value.
  void Descend(const Step& step, const OrderedJson& value, Values& to) {
    Values open = {&value};
    while (!open.empty()) {
      if (!Look(step)) return;
      const OrderedJson* now = open.back();
      open.pop_back();
      to.push_back(now);
      if (!now->is_structured()) continue;
      const size_t begin = open.size();
      for (const OrderedJson& member : *now) open.push_back(&member);
      std::reverse(open.begin() + static_cast<ptrdiff_t>(begin), open.end());
    }
  }

  void Slice(const Step& step, const OrderedJson& value, Values& to) {
    if (!value.is_array()) return Fail(step, TypeText(value) + ", but an index needs a list");
    const auto size = static_cast<int64_t>(value.size());
    const auto from_front = [size](int64_t index) { return index < 0 ? index + size : index; };
    int64_t start = from_front(step.start.value_or(0));
    int64_t end = step.single ? start + 1 : from_front(step.end.value_or(size));
    if (start == end) return;
    if (start < 0 || start >= size || end < 0 || end > size || start > end) {
      const std::string first = std::to_string(step.start.value_or(0));
      const std::string what =
          step.single ? "index " + first : first + ":" + std::to_string(step.end.value_or(size));
      return Fail(step, "the list has " + Counted(static_cast<int64_t>(size), "element") + ", so " +
                            what + " is out of range");
    }
    for (; start < end; start += step.stride) to.push_back(&value[static_cast<size_t>(start)]);
  }

  bool Holds(const Step& step, const OrderedJson& item) {
    Values left = Of(step.left, item);
    if (step.compare == Compare::kExists) return !left.empty();
    Values right = Of(step.right, item);
    if (fault_ || left.empty() || right.empty()) return false;
    if (left.size() > 1 || right.size() > 1) {
      Fail(step, "a filter compares single values, but this path matches several");
      return false;
    }
    const OrderedJson& a = *left.front();
    const OrderedJson& b = *right.front();
    if (step.compare == Compare::kEqual) return a == b;
    if (step.compare == Compare::kUnequal) return a != b;
    if (!(a.is_number() && b.is_number()) && !(a.is_string() && b.is_string())) {
      Fail(step, TypeText(a) + " and " + TypeText(b) + " cannot be ordered");
      return false;
    }
    switch (step.compare) {
      case Compare::kLess:
        return a < b;
      case Compare::kAtMost:
        return a <= b;
      case Compare::kMore:
        return a > b;
      default:
        return a >= b;
    }
  }

  Values Of(const Operand& operand, const OrderedJson& item) {
    if (operand.literal) return {&*operand.literal};
    return Follow(operand.path, item);
  }

  static std::string TypeText(const OrderedJson& value) {
    return std::string("this is ") + (value.is_array()    ? "a list"
                                      : value.is_object() ? "an object"
                                      : value.is_string() ? "a string"
                                      : value.is_number() ? "a number"
                                      : value.is_null()   ? "null"
                                                          : "a boolean");
  }

  bool Look(const Step& step) {
    if (++looks_ > kMaxLooks)
      Fail(step, "the template matches too many values: name the fields instead of using .. or *");
    return !fault_;
  }
  void Write(std::string_view text) {
    if (out_.size() + text.size() > JsonPath::kMaxOutput) {
      if (!fault_) {
        fault_ = Error(ErrorCode::kTooLarge, "jsonpath template: the output is larger than " +
                                                 std::to_string(JsonPath::kMaxOutput) +
                                                 " bytes; select fewer fields");
      }
      return;
    }
    out_ += text;
  }
  void Fail(const Step& step, const std::string& what) {
    if (!fault_) fault_ = FaultAt(step.column, what);
  }

  std::string out_;
  size_t looks_ = 0;
  std::optional<Error> fault_;
};

}  // namespace
}  // namespace jsonpath

JsonPath::JsonPath(std::shared_ptr<const std::vector<jsonpath::Piece>> pieces)
    : pieces_(std::move(pieces)) {}

Result<JsonPath> JsonPath::Parse(std::string_view text) {
  if (text.size() > kMaxTemplate) {
    return Fail(ErrorCode::kTooLarge, "jsonpath template: " + std::to_string(text.size()) +
                                          " bytes are more than " + std::to_string(kMaxTemplate));
  }
  auto pieces = jsonpath::ParseTemplate(text, kMaxDepth);
  if (!pieces) return tl::unexpected(std::move(pieces).error());
  return JsonPath(std::make_shared<const std::vector<jsonpath::Piece>>(*std::move(pieces)));
}

Result<std::string> JsonPath::Print(const nlohmann::ordered_json& value) const {
  jsonpath::Printer printer;
  printer.Print(*pieces_, value);
  return printer.Take();
}

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
