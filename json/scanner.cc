#include "json/scanner.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/issues.h"
#include "json/scalars.h"

namespace mindgate::json {
namespace {

constexpr size_t kNone = std::string_view::npos;

// Behind the object or list whose bracket is at `at`. Which bracket closes which is the decoder's.
size_t EndOfBrackets(std::string_view text, size_t at) {
  size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = EndOfString(text, at);
      if (at == kNone) return kNone;
      continue;
    }
    ++at;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return at;
  }
  return kNone;
}

}  // namespace

size_t SkipSpace(std::string_view text, size_t at) {
  return std::min(text.find_first_not_of(" \t\r\n", at), text.size());
}

size_t EndOfString(std::string_view text, size_t at) {
  for (size_t quote = text.find('"', at + 1); quote != kNone; quote = text.find('"', quote + 1)) {
    size_t slashes = 0;
    while (text[quote - 1 - slashes] == '\\') ++slashes;  // the opening quote ends it
    if (slashes % 2 == 0) return quote + 1;
  }
  return kNone;
}

size_t EndOfValue(std::string_view text, size_t at) {
  if (at >= text.size()) return kNone;
  if (text[at] == '"') return EndOfString(text, at);
  if (text[at] == '{' || text[at] == '[') return EndOfBrackets(text, at);
  const size_t end = text.find_first_of(",]} \t\r\n", at);
  return end == at ? kNone : end;
}

namespace internal {
namespace {

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void AppendUtf8(unsigned code, std::string& out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Of a number or a word, after its first.
bool IsScalar(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || c == '.' || c == '-' || c == '+' || c == 'E';
}

// Each step returns false after it has noted a fault.
class Scanner {
 public:
  Scanner(std::string_view text, const Limits& limits, Positions* places, Outline* outline)
      : text_(text), limits_(limits), places_(places), outline_(outline) {
    if (places_ != nullptr) lines_.emplace(text_);
  }

  std::optional<Issue> Run() {
    SkipSpace();
    if (AtEnd()) return Issue{{1, 1}, "", "expected a JSON value, but the text is empty", ""};
    bool fine = Value();
    while (fine && !open_.empty()) fine = open_.back().object ? NextMember() : NextItem();
    if (fine) {
      SkipSpace();
      if (!AtEnd()) fine = Unexpected("text after the end of the value");
    }
    // A key that came twice in what is still open came before the fault.
    if (!fine) FindRepeatedKey();
    return std::move(issue_);
  }

 private:
  struct Key {
    std::string_view text;  // of the text itself, or of escaped_
    size_t at = 0;
  };
  struct Frame {
    bool object = false;
    bool empty = true;      // nothing read in it so far
    size_t node = 0;        // its number in places_
    size_t outlined = 0;    // its number in outline_
    size_t count = 0;       // items read
    std::vector<Key> keys;  // the last one is the current member's
  };

  bool AtEnd() const { return at_ >= text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }

  void SkipSpace() { at_ = json::SkipSpace(text_, at_); }

  bool Fault(size_t at, std::string message, std::string hint = "") {
    issue_ = Issue{PositionAt(text_, at), "", std::move(message), std::move(hint)};
    return false;
  }

  bool BeyondLimit(std::string message) {
    Fault(at_, std::move(message));
    issue_->beyond_limit = true;
    return false;
  }

  // "expected a value, found '}'", with a better sentence for the usual slips.
  bool Unexpected(std::string_view expected, std::string hint = "") {
    const char c = Peek();
    if (!AtEnd() && (c == '#' || c == '/')) {
      return Fault(at_, "JSON does not allow comments", "remove the comment");
    }
    if (c == '\'') hint = "JSON strings are written in double quotes";
    std::string found = "the end of the text";
    if (!AtEnd()) {
      size_t length = 1;  // the whole character, not its first byte
      while (at_ + length < text_.size() && (text_[at_ + length] & 0xC0) == 0x80) ++length;
      found = Quote(text_.substr(at_, length));
    }
    return Fault(at_, std::string(expected) + ", found " + found, std::move(hint));
  }

  // Notes the place of the value that begins here.
  size_t Note(bool container) {
    if (places_ == nullptr) return 0;
    if (open_.empty()) {
      places_->Set("", lines_->At(at_));
      return Positions::kRoot;
    }
    const Frame& parent = open_.back();
    if (!parent.object) {
      return places_->Add(parent.node, std::to_string(parent.count), lines_->At(at_));
    }
    const Key& key = parent.keys.back();
    return places_->Add(parent.node, std::string(key.text), lines_->At(container ? key.at : at_));
  }

  // What begins here; its number in outline_.
  size_t Begin(TextNode::Kind kind) {
    if (outline_ == nullptr) return 0;
    TextNode& node = outline_->emplace_back();
    node.kind = kind;
    node.flow = kind != TextNode::Kind::kScalar;
    node.first_byte = at_;
    return outline_->size() - 1;
  }

  // It ends before this place.
  void End(size_t outlined) {
    if (outline_ == nullptr) return;
    (*outline_)[outlined].end = at_;
    (*outline_)[outlined].next = static_cast<uint32_t>(outline_->size());
  }

  bool Value() {
    if (++values_ > limits_.elements) return BeyondLimit(TooMany(limits_));
    const char c = Peek();
    if (c == '{' || c == '[') {
      if (open_.size() >= limits_.depth) return BeyondLimit(TooDeep(limits_));
      Frame frame;
      frame.object = c == '{';
      frame.node = Note(true);
      frame.outlined = Begin(frame.object ? TextNode::Kind::kMapping : TextNode::Kind::kSequence);
      open_.push_back(std::move(frame));
      ++at_;
      return true;
    }
    Note(false);
    const size_t outlined = Begin(TextNode::Kind::kScalar);
    const bool fine = Scalar(c);
    End(outlined);
    return fine;
  }

  bool Scalar(char c) {
    if (c == '"') return String(nullptr);
    if (c == '-' || IsDigit(c)) return Number();
    for (std::string_view word : {"true", "false", "null"}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return true;
      }
    }
    return Unexpected("expected a value");
  }

  // Moves to the next item or member, or closes the container. `more` says which.
  bool Separator(char close, bool* more) {
    Frame& frame = open_.back();
    SkipSpace();
    *more = true;
    if (Peek() == close && !AtEnd()) {
      ++at_;
      *more = false;
      if (RepeatedKey(frame) != nullptr) return false;
      End(frame.outlined);
      open_.pop_back();
      return true;
    }
    if (std::exchange(frame.empty, false)) return true;
    if (Peek() != ',') {
      return Unexpected(std::string("expected ',' or '") + close +
                        (frame.object ? "' after a member" : "' after an item"));
    }
    ++at_;
    SkipSpace();
    if (Peek() == close && !AtEnd()) {
      return Fault(at_, frame.object ? "expected a member after ','" : "expected an item after ','",
                   "remove the comma before it");
    }
    return true;
  }

  bool NextItem() {
    bool more = false;
    if (!Separator(']', &more)) return false;
    if (!more) return true;
    // The frame may move when the value opens another one.
    const size_t depth = open_.size() - 1;
    if (!Value()) return false;
    ++open_[depth].count;
    return true;
  }

  bool NextMember() {
    bool more = false;
    if (!Separator('}', &more)) return false;
    if (!more) return true;
    Frame& frame = open_.back();
    if (Peek() != '"') return Unexpected("expected a key in double quotes");
    const size_t at = at_;
    key_.clear();
    const size_t outlined = Begin(TextNode::Kind::kScalar);
    if (!String(&key_)) return false;
    End(outlined);
    if (outline_ != nullptr) (*outline_)[outlined].key = key_;
    const std::string_view raw = text_.substr(at + 1, at_ - at - 2);
    frame.keys.push_back({raw == key_ ? raw : escaped_.emplace_back(key_), at});
    SkipSpace();
    if (Peek() != ':') return Unexpected("expected ':' after a key");
    ++at_;
    SkipSpace();
    return Value();
  }

  // Orders the keys of an object. Gives the first that came before, null when there is none.
  static const Key* RepeatedKey(Frame& frame) {
    std::stable_sort(frame.keys.begin(), frame.keys.end(),
                     [](const Key& a, const Key& b) { return a.text < b.text; });
    const Key* first = nullptr;
    for (size_t i = 1; i < frame.keys.size(); ++i) {
      const Key& key = frame.keys[i];
      if (key.text != frame.keys[i - 1].text || (first != nullptr && first->at < key.at)) continue;
      first = &key;
    }
    return first;
  }

  // A fault, if there is one.
  void FindRepeatedKey() {
    const Key* first = nullptr;
    size_t before = 0;
    for (Frame& frame : open_) {
      const Key* key = RepeatedKey(frame);
      if (key == nullptr || (first != nullptr && first->at < key->at)) continue;
      first = key;
      before = std::find_if(frame.keys.begin(), frame.keys.end(), [key](const Key& other) {
                 return other.text == key->text;
               })->at;
    }
    if (first == nullptr) return;
    Fault(first->at, "key " + Quote(first->text) + " is written twice",
          "remove one; the first is on line " + std::to_string(PositionAt(text_, before).line));
  }

  bool String(std::string* out) {
    const size_t start = at_++;
    while (!AtEnd()) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20) {
        if (c == '\n') return Fault(start, "a string has no closing quote on its line");
        return Fault(at_, "a string contains a control character",
                     "write it as an escape such as \\t");
      }
      if (c == '\\') {
        if (!Escape(out)) return false;
        continue;
      }
      if (out != nullptr) *out += c;
      ++at_;
    }
    return Fault(start, "a string has no closing quote");
  }

  bool Escape(std::string* out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeaning = "\"\\/\b\f\n\r\t";
    const size_t start = at_++;
    const char letter = Peek();
    if (letter == 'u') {
      ++at_;
      unsigned code = 0;
      if (!FourHexDigits(start, &code)) return false;
      if (code >= 0xDC00 && code <= 0xDFFF) return HalfPair(start);
      if (code >= 0xD800 && code <= 0xDBFF) {
        if (!text_.substr(at_).starts_with("\\u")) return HalfPair(start);
        at_ += 2;
        unsigned low = 0;
        if (!FourHexDigits(at_ - 2, &low)) return false;
        if (low < 0xDC00 || low > 0xDFFF) return HalfPair(start);
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      }
      if (out != nullptr) AppendUtf8(code, *out);
      return true;
    }
    const size_t known = AtEnd() ? std::string_view::npos : kLetters.find(letter);
    if (known == std::string_view::npos) {
      return Fault(start, "unknown escape after a backslash in a string",
                   "write a backslash as \\\\");
    }
    if (out != nullptr) *out += kMeaning[known];
    ++at_;
    return true;
  }

  bool FourHexDigits(size_t start, unsigned* code) {
    for (int i = 0; i < 4; ++i, ++at_) {
      const int digit = AtEnd() ? -1 : HexDigit(text_[at_]);
      if (digit < 0) return Fault(start, "\\u takes four hexadecimal digits");
      *code = *code * 16 + static_cast<unsigned>(digit);
    }
    return true;
  }

  bool HalfPair(size_t start) {
    return Fault(start, "this escape is half of a surrogate pair, not a character",
                 "write both halves, or the character itself");
  }

  void SkipDigits() {
    while (!AtEnd() && IsDigit(text_[at_])) ++at_;
  }

  bool Number() {
    const size_t start = at_;
    if (Peek() == '-') ++at_;
    const size_t digits = at_;
    SkipDigits();
    if (at_ == digits) return Fault(start, "expected a digit after '-'");
    if (text_[digits] == '0' && at_ - digits > 1) {
      return Fault(start, "a number must not begin with 0", "remove the leading zeros");
    }
    bool integer = true;
    if (Peek() == '.') {
      integer = false;
      ++at_;
      if (!IsDigit(Peek())) return Fault(start, "expected a digit after the point of a number");
      SkipDigits();
    }
    if (Peek() == 'e' || Peek() == 'E') {
      integer = false;
      ++at_;
      if (Peek() == '+' || Peek() == '-') ++at_;
      if (!IsDigit(Peek())) return Fault(start, "expected a digit in the exponent of a number");
      SkipDigits();
    }
    return InRange(text_.substr(start, at_ - start), start, integer);
  }

  bool InRange(std::string_view number, size_t start, bool integer) {
    if (!integer) {
      if (ParseDecimal(number)) return true;
      return Fault(start, "number " + Quote(number) + " is out of range");
    }
    const char* begin = number.data();
    const char* end = begin + number.size();
    int64_t small = 0;
    uint64_t large = 0;
    if (std::from_chars(begin, end, small).ec == std::errc() ||
        std::from_chars(begin, end, large).ec == std::errc()) {
      return true;
    }
    return Fault(start, "integer " + Quote(number) + " does not fit in 64 bits");
  }

  const std::string_view text_;
  const Limits& limits_;
  Positions* const places_;
  Outline* const outline_;
  std::optional<Lines> lines_;
  size_t at_ = 0;
  size_t values_ = 0;
  std::vector<Frame> open_;
  std::string key_;                  // the newest
  std::deque<std::string> escaped_;  // keys that their text does not show as they are
  std::optional<Issue> issue_;
};

}  // namespace

std::optional<Issue> Scan(std::string_view text, const Limits& limits, Positions* places,
                          Outline* outline) {
  if (text.size() > limits.bytes) return Issue{{}, "", TooLarge(limits.bytes), ""};
  text = WithoutByteOrderMark(text);
  if (const size_t bad = FindBadUtf8(text); bad != std::string_view::npos) {
    return NotUtf8(text, bad);
  }
  return Scanner(text, limits, places, outline).Run();
}

std::optional<Issue> CountValues(std::string_view text, const Limits& limits) {
  // Each value begins with one of its tokens, and only keys are tokens without a value.
  size_t count = 0;
  size_t depth = 0;
  const auto beyond = [text](size_t at, std::string message) {
    return Issue{PositionAt(text, at), "", std::move(message), "", true};
  };
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const size_t begin = at++;
    if (IsSpace(c) || c == ',' || c == ':') continue;
    if (c == '}' || c == ']') {
      depth -= depth > 0 ? 1 : 0;
      continue;
    }
    if (c == '"') {
      at = SkipSpace(text, std::min(EndOfString(text, begin), text.size()));
      if (IsAt(text, at, ':')) continue;
    } else if (c == '{' || c == '[') {
      if (++depth > limits.depth) return beyond(begin, TooDeep(limits));
    } else {
      while (at < text.size() && IsScalar(text[at])) ++at;
    }
    if (++count > limits.elements) return beyond(begin, TooMany(limits));
  }
  return std::nullopt;
}

std::string TooLarge(size_t limit) {
  return "the document is larger than " + std::to_string(limit) + " bytes";
}

std::string TooDeep(const Limits& limits) {
  return "objects and lists are nested deeper than " + std::to_string(limits.depth) + " levels";
}

std::string TooMany(const Limits& limits) {
  return "the document has more than " + std::to_string(limits.elements) + " values";
}

}  // namespace internal
}  // namespace mindgate::json
