#include <charconv>
#include <utility>

#include "base/text.h"
#include "cli/console/output.h"

namespace mindgate::cli::jsonpath {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Characters that end a field name.
bool EndsField(char c) {
  return IsSpace(c) || std::string_view(".,[]$@{}()=!<>").find(c) != std::string_view::npos;
}

class Parser {
 public:
  Parser(std::string_view text, size_t max_depth) : text_(text), max_depth_(max_depth) {}

  Result<std::vector<Piece>> Parse() {
    std::vector<Piece> pieces = Pieces(0);
    if (fault_) return tl::unexpected(*std::move(fault_));
    return pieces;
  }

 private:
  // Until the end of the template, or within a range until its `{end}`.
  std::vector<Piece> Pieces(size_t depth) {
    std::vector<Piece> pieces;
    const size_t begun = at_;
    while (!fault_ && at_ < text_.size()) {
      if (text_[at_] != '{') {
        const size_t end = std::min(text_.find('{', at_), text_.size());
        pieces.push_back(
            {.kind = Piece::Kind::kText, .text = std::string(text_.substr(at_, end - at_))});
        at_ = end;
        continue;
      }
      const size_t open = at_++;
      SkipSpace();
      if (Word("end")) {
        if (depth == 0) {
          Fail(open, "{end} without a {range}");
        } else {
          Close(open);
        }
        return pieces;
      }
      pieces.push_back(Action(open, depth));
    }
    if (!fault_ && depth > 0) Fail(begun == 0 ? 0 : begun - 1, "this {range} has no {end}");
    return pieces;
  }

  // The content of a pair of braces.
  Piece Action(size_t open, size_t depth) {
    Piece piece;
    if (Word("range")) {
      piece.kind = Piece::Kind::kRange;
      if (depth + 1 >= max_depth_) return Fail(open, TooDeep()), piece;
      piece.path = PathHere(depth);
      Close(open);
      if (!fault_) piece.pieces = Pieces(depth + 1);
      return piece;
    }
    if (Peek() == '"' || Peek() == '\'') {
      piece.text = Quoted();
    } else {
      piece.kind = Piece::Kind::kPath;
      piece.path = PathHere(depth);
    }
    Close(open);
    return piece;
  }

  void Close(size_t open) {
    SkipSpace();
    if (fault_) return;
    if (at_ >= text_.size()) return Fail(open, "unclosed brace: add }");
    if (text_[at_] != '}') {
      return Fail(at_, "unexpected " + Quote(text_.substr(at_, 1)) +
                           ": write a path such as {.metadata.name}, text such as {\"\\n\"}, "
                           "{range PATH} or {end}");
    }
    ++at_;
  }

  Path PathHere(size_t depth) {
    Path path;
    SkipSpace();
    if (Peek() == '@' || Peek() == '$') ++at_;
    while (!fault_) {
      SkipSpace();
      const size_t begin = at_;
      if (Peek() == '.') {
        ++at_;
        if (Peek() == '.') {
          ++at_;
          path.steps.push_back({.kind = Step::Kind::kRecursive, .column = begin + 1});
          if (Peek() != '[' && (at_ >= text_.size() || EndsField(Peek()))) {
            Fail(begin, "\"..\" needs a name, * or [ after it");
          }
        }
        Field(path);
      } else if (Peek() == '[') {
        path.steps.push_back(Bracket(depth));
      } else {
        break;
      }
    }
    return path;
  }

  // The name after a dot; none is the value itself.
  void Field(Path& path) {
    const size_t begin = at_;
    std::string name;
    while (at_ < text_.size() && !EndsField(text_[at_])) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      name += text_[at_++];
    }
    if (name.empty()) return;
    if (name == "*") {
      path.steps.push_back({.kind = Step::Kind::kWildcard, .column = begin + 1});
    } else {
      path.steps.push_back({.column = begin + 1, .field = std::move(name)});
    }
  }

  Step Bracket(size_t depth) {
    const size_t open = at_++;
    SkipSpace();
    if (Peek() == '?') return Filter(open, depth);
    Step all{.kind = Step::Kind::kUnion, .column = open + 1};
    while (!fault_) {
      SkipSpace();
      all.members.push_back(Member());
      SkipSpace();
      if (fault_) break;
      if (Peek() == ',') {
        ++at_;
      } else if (Peek() == ']') {
        ++at_;
        break;
      } else {
        Fail(at_ < text_.size() ? at_ : open,
             at_ < text_.size() ? "unexpected " + Quote(text_.substr(at_, 1)) + " in brackets"
                                : "unclosed bracket: add ]");
      }
    }
    return all.members.size() == 1 ? Step(all.members.front()) : all;
  }

  // 'name', *, 3 or 1:3:2.
  Step Member() {
    Step step{.column = at_ + 1};
    if (Peek() == '\'' || Peek() == '"') {
      step.field = Quoted();
      return step;
    }
    if (Peek() == '*') {
      ++at_;
      step.kind = Step::Kind::kWildcard;
      return step;
    }
    step.kind = Step::Kind::kSlice;
    const size_t begin = at_;
    step.start = Index();
    step.single = Peek() != ':';
    if (Peek() == ':') {
      ++at_;
      step.end = Index();
      if (Peek() == ':') {
        ++at_;
        const size_t at = at_;
        step.stride = Index().value_or(1);
        if (step.stride <= 0) Fail(at, "a step must be 1 or more");
      }
    }
    if (step.single && !step.start) {
      Fail(begin,
           "expected an index such as [0], a range such as [1:3], [*], a name such as "
           "['a'] or a filter such as [?(@.a==\"b\")]");
    }
    return step;
  }

  std::optional<int64_t> Index() {
    const size_t begin = at_;
    if (Peek() == '-') ++at_;
    while (IsDigit(Peek())) ++at_;
    if (at_ == begin) return std::nullopt;
    const auto number = ParseGoInt(text_.substr(begin, at_ - begin));
    // Beyond any list; sums of it and a length stay far from the limits of the type.
    constexpr int64_t kFar = int64_t{1} << 40;
    if (!number || *number > kFar || *number < -kFar) {
      Fail(begin, Quote(text_.substr(begin, at_ - begin)) + " is not an index");
    }
    return number;
  }

  Step Filter(size_t open, size_t depth) {
    Step step{.kind = Step::Kind::kFilter, .column = open + 1};
    if (depth + 1 >= max_depth_) return Fail(open, TooDeep()), step;
    ++at_;  // the ?
    if (Peek() != '(') return Fail(at_, "expected ( after ?: write [?(@.a==\"b\")]"), step;
    ++at_;
    step.left = OperandHere(depth + 1);
    SkipSpace();
    const size_t begin = at_;
    while (std::string_view("=!<>~").find(Peek()) != std::string_view::npos && Peek() != '\0')
      ++at_;
    const std::string_view op = text_.substr(begin, at_ - begin);
    if (!op.empty() && !fault_) {
      step.compare = op == "=="   ? Compare::kEqual
                     : op == "!=" ? Compare::kUnequal
                     : op == "<"  ? Compare::kLess
                     : op == "<=" ? Compare::kAtMost
                     : op == ">"  ? Compare::kMore
                     : op == ">=" ? Compare::kAtLeast
                                  : Compare::kExists;
      if (step.compare == Compare::kExists) {
        Fail(begin, Quote(op) + " is not supported: write ==, !=, <, <=, > or >=" +
                        (op == "=~" ? "; for regular expressions use -o json and jq" : ""));
      }
      step.right = OperandHere(depth + 1);
    }
    SkipSpace();
    if (fault_) return step;
    if (text_.substr(at_, 2) != ")]") {
      return Fail(at_ < text_.size() ? at_ : open, "expected )] at the end of a filter"), step;
    }
    at_ += 2;
    return step;
  }

  Operand OperandHere(size_t depth) {
    SkipSpace();
    Operand operand;
    const size_t begin = at_;
    const char c = Peek();
    if (c == '"' || c == '\'') {
      operand.literal = Quoted();
    } else if (c == '-' || c == '+' || IsDigit(c)) {
      operand.literal = Number();
    } else if (Word("true")) {
      operand.literal = true;
    } else if (Word("false")) {
      operand.literal = false;
    } else if (c == '@' || c == '$' || c == '.' || c == '[') {
      operand.path = PathHere(depth);
    } else {
      Fail(begin, "expected a path such as @.a, text in quotes, a number, true or false");
    }
    return operand;
  }

  OrderedJson Number() {
    const size_t begin = at_;
    if (Peek() == '+') ++at_;
    const size_t first = at_;
    while (IsDigit(Peek()) || Peek() == '-' || Peek() == '.' || Peek() == 'e') ++at_;
    const char* const end = text_.data() + at_;
    int64_t integer = 0;
    if (std::from_chars(text_.data() + first, end, integer).ptr == end) return integer;
    double real = 0;
    const auto read = std::from_chars(text_.data() + first, end, real);
    if (read.ptr != end || read.ec != std::errc()) {
      Fail(begin, Quote(text_.substr(begin, at_ - begin)) + " is not a number");
    }
    return real;
  }

  // Text in quotes of either kind, with Go's escapes.
  std::string Quoted() {
    const size_t open = at_;
    const char quote = text_[at_++];
    std::string value;
    while (at_ < text_.size() && text_[at_] != quote) {
      char c = text_[at_++];
      if (c == '\\' && at_ < text_.size()) {
        c = text_[at_++];
        c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == '0' ? '\0' : c;
      }
      value += c;
    }
    if (at_ >= text_.size()) {
      Fail(open, "unclosed quote");
    } else {
      ++at_;
    }
    return value;
  }

  // Consumes `word` if it is the next word.
  bool Word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    const size_t end = at_ + word.size();
    if (end < text_.size() && (IsLetter(text_[end]) || IsDigit(text_[end]))) return false;
    at_ = end;
    return true;
  }

  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }
  std::string TooDeep() const {
    return "more than " + std::to_string(max_depth_ - 1) + " nested ranges and filters";
  }
  void Fail(size_t offset, const std::string& what) {
    if (!fault_) fault_ = FaultAt(offset + 1, what);
  }

  std::string_view text_;
  size_t max_depth_;
  size_t at_ = 0;
  std::optional<Error> fault_;
};

}  // namespace

Error FaultAt(size_t column, const std::string& what) {
  return {ErrorCode::kInvalidArgument,
          "jsonpath template, column " + std::to_string(column) + ": " + what};
}

Result<std::vector<Piece>> ParseTemplate(std::string_view text, size_t max_depth) {
  return Parser(text, max_depth).Parse();
}

}  // namespace mindgate::cli::jsonpath
