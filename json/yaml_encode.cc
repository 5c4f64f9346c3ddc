#include <yaml.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/terminal_text.h"
#include "base/text.h"
#include "json/text_places.h"
#include "json/yaml.h"

namespace mindgate::json {
namespace {

int Append(void* out, unsigned char* bytes, size_t size) {
  static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(bytes), size);
  return 1;
}

// libyaml refuses what is not UTF-8, and so would every reader.
std::string Repaired(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0) {
      out += "\xEF\xBF\xBD";  // U+FFFD
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

// Dates and times are strings to us, but not to every reader of YAML: quote them, as go-yaml does.
bool LooksLikeTime(std::string_view text) {
  return !text.empty() && (IsDigit(text[0]) || text[0] == '-' || text[0] == '+') &&
         text.find_first_of(":-", 1) != std::string_view::npos &&
         text.find_first_not_of("0123456789+-:._TtZz ") == std::string_view::npos;
}

// Whether a literal block gives this text back. It would turn other line ends into '\n', and a text
// that ends in empty lines needs an end-of-document mark.
bool FitsLiteral(std::string_view text) {
  return text.find('\n') != std::string_view::npos && !text.starts_with('\n') &&
         !text.starts_with(' ') && !text.ends_with("\n\n") &&
         text.find_first_of("\r\t") == std::string_view::npos &&
         text.find("\xC2\x85") == std::string_view::npos &&      // next line
         text.find("\xE2\x80\xA8") == std::string_view::npos &&  // line separator
         text.find("\xE2\x80\xA9") == std::string_view::npos;    // paragraph separator
}

class Emitter {
 public:
  Emitter(std::string& out, bool unicode, bool flow) : flow_(flow) {
    fine_ = yaml_emitter_initialize(&emitter_) == 1;
    if (!fine_) return;
    yaml_emitter_set_output(&emitter_, Append, &out);
    yaml_emitter_set_unicode(&emitter_, unicode ? 1 : 0);
    yaml_emitter_set_width(&emitter_, -1);
    yaml_emitter_set_indent(&emitter_, 2);
  }
  ~Emitter() { yaml_emitter_delete(&emitter_); }
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;

  void Document(const Json& value) {
    yaml_event_t event;
    Emit(event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
    Emit(event, yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, 1));
    Tree(value);
    Emit(event, yaml_document_end_event_initialize(&event, 1));
    Emit(event, yaml_stream_end_event_initialize(&event));
  }

 private:
  struct Open {
    const Json* value;
    Json::const_iterator next;
  };

  // yaml_emitter_emit takes the event over, also when it fails.
  void Emit(yaml_event_t& event, int initialized) {
    if (initialized != 1) {
      fine_ = false;
    } else if (fine_) {
      fine_ = yaml_emitter_emit(&emitter_, &event) == 1;
    } else {
      yaml_event_delete(&event);
    }
  }

  void Tree(const Json& root) {
    std::vector<Open> open;
    Value(root, open);
    while (!open.empty()) {
      Open& top = open.back();
      if (top.next == top.value->cend()) {
        Close(*top.value);
        open.pop_back();
        continue;
      }
      const auto item = top.next++;
      if (top.value->is_object()) Text(item.key(), /*is_key=*/true);
      Value(*item, open);
    }
  }

  void Value(const Json& value, std::vector<Open>& open) {
    yaml_event_t event;
    if (value.is_object()) {
      Emit(event, yaml_mapping_start_event_initialize(
                      &event, nullptr, nullptr, 1,
                      flow_ ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE));
      open.push_back({&value, value.cbegin()});
    } else if (value.is_array()) {
      Emit(event, yaml_sequence_start_event_initialize(
                      &event, nullptr, nullptr, 1,
                      flow_ ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE));
      open.push_back({&value, value.cbegin()});
    } else if (value.is_string()) {
      Text(value.get_ref<const std::string&>(), /*is_key=*/false);
    } else {
      // Numbers, true, false and null read the same in YAML.
      Scalar(value.dump(), true, YAML_PLAIN_SCALAR_STYLE);
    }
  }

  void Close(const Json& value) {
    yaml_event_t event;
    Emit(event, value.is_object() ? yaml_mapping_end_event_initialize(&event)
                                  : yaml_sequence_end_event_initialize(&event));
  }

  void Text(const std::string& text, bool is_key) {
    if (internal::FindBadUtf8(text) != std::string_view::npos) {
      return Text(Repaired(text), is_key);
    }
    const bool breaks = text.find_first_of("\r\n") != std::string::npos;
    yaml_scalar_style_t style = YAML_PLAIN_SCALAR_STYLE;
    if (breaks) {
      style = !is_key && FitsLiteral(text) ? YAML_LITERAL_SCALAR_STYLE
                                           : YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    }
    const bool plain = text != "<<" && !LooksLikeTime(text) && ResolvePlainScalar(text).is_string();
    Scalar(text, plain, style);
  }

  // libyaml falls back to quotes where the style does not fit the text or the place.
  void Scalar(const std::string& text, bool plain, yaml_scalar_style_t style) {
    yaml_event_t event;
    auto* bytes = reinterpret_cast<yaml_char_t*>(const_cast<char*>(text.data()));
    Emit(event,
         yaml_scalar_event_initialize(&event, nullptr, nullptr, bytes,
                                      static_cast<int>(text.size()), plain ? 1 : 0, 1, style));
  }

  yaml_emitter_t emitter_ = {};
  const bool flow_;
  bool fine_ = false;
};

std::string Encode(const Json& value, bool flow) {
  std::string out;
  Emitter(out, /*unicode=*/true, flow).Document(value);
  if (!IsSafeText(out)) {
    // With all that is not ASCII as escapes in double quotes: libyaml has no choice in between.
    out.clear();
    Emitter(out, /*unicode=*/false, flow).Document(value);
  }
  if (!out.ends_with('\n')) out += '\n';
  return out;
}

}  // namespace

std::string EncodeYaml(const Json& value) { return Encode(value, /*flow=*/false); }

std::string EncodeFlowYaml(const Json& value) {
  // As an item: libyaml has other rules for a scalar that is the whole document.
  const std::string list = Encode(Json::array({value}), /*flow=*/true);
  return list.substr(1, list.size() - 3);  // "[", "]" and the end of the line
}

}  // namespace mindgate::json
