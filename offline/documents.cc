#include "offline/documents.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "json/decode.h"
#include "json/pointer.h"
#include "json/scanner.h"
#include "json/yaml.h"
#include "offline/decide.h"
#include "schemas/kinds.h"

namespace mindgate::offline {

using json::Value;

namespace {

// Cuts `{...} {...}` between the objects, which is how jq prints what it finds. Only brackets and
// quotes count here: whether a part is JSON is for its decoder. One part when the text does not
// begin as JSON, or there is no second object.
std::vector<JsonPart> CutJsonRow(std::string_view text);

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// After this many invalid documents the rest of a text is not read: each may have cost as much as
// the limits on aliases allow.
constexpr int kMaxBadDocuments = 50;

bool LooksLikeJson(const InputText& input) {
  if (input.name.ends_with(".json")) return true;
  if (input.name != kStdin) return false;
  std::string_view text = input.text;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

int FirstLineWithContent(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return 1 + static_cast<int>(
                 std::count(text.begin(), text.begin() + std::min(first, text.size()), '\n'));
}

struct Part {
  std::string_view text;
  int lines_before;
};

// Splits at lines that start with three dashes; no YAML scalar can contain such a line.
std::vector<Part> SplitAtSeparators(std::string_view text) {
  std::vector<Part> parts;
  size_t begin = 0;
  int lines = 0;
  int lines_before = 0;
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const bool separator =
        rest.starts_with("---") &&
        (rest.size() == 3 || std::string_view(" \t\r\n").find(rest[3]) != std::string_view::npos);
    if (separator && at > begin) {
      parts.push_back({text.substr(begin, at - begin), lines_before});
      begin = at;
      lines_before = lines;
    }
    const size_t end = text.find('\n', at);
    if (end == std::string_view::npos) break;
    at = end + 1;
    ++lines;
  }
  parts.push_back({text.substr(begin), lines_before});
  return parts;
}

}  // namespace

json::Position Document::InText(json::Position at) const {
  if (at.line == 1) at.column += columns_before;
  if (at.line > 0) at.line += lines_before;
  return at;
}

json::Position Document::At(std::string_view pointer) {
  if (!json_text.empty() && !located_) {
    positions = json::PositionsOf(json_text);
    located_ = true;
  }
  json::Position at = positions.At(pointer);
  return InText(at);
}

const json::Value& Document::Root() {
  if (!laid_out_) laid_out_.emplace(value);
  return laid_out_->root();
}

namespace {

// The API server leaves kind and apiVersion out of the items of a typed list. As kubectl, items
// that have not both get those of the list.
void NameItems(json::Json& list) {
  const std::string kind(json::FindString(list, "kind").value_or(""));
  const auto items = list.is_object() ? list.find("items") : list.end();
  if (kind == "List" || !kind.ends_with("List") || items == list.end() || !items->is_array()) {
    return;
  }
  const std::string version(json::FindString(list, "apiVersion").value_or(""));
  for (json::Json& item : *items) {
    if (!item.is_object()) continue;
    const bool named = !json::FindString(item, "kind").value_or("").empty() &&
                       !json::FindString(item, "apiVersion").value_or("").empty();
    if (named) continue;
    item["kind"] = kind.substr(0, kind.size() - std::string_view("List").size());
    item["apiVersion"] = version;
  }
}

class DocumentReader {
 public:
  explicit DocumentReader(Source& source) : source_(source) {}

  void Read() {
    const std::string_view text = source_.input.text;
    if (LooksLikeJson(source_.input)) {
      ReadJson(text);
      return;
    }
    if (auto documents = json::DecodeYaml(text)) {
      Add(*std::move(documents), 0);
      return;
    } else if (const auto row = CutJsonRow(text); row.size() > 1) {
      ReadRow(row);
    } else if (const auto parts = SplitAtSeparators(text); parts.size() > 1) {
      ReadParts(parts);
    } else {
      AddFault(std::move(documents.error()), 1, 0);
    }
  }

 private:
  void ReadJson(std::string_view text) {
    auto value = json::Decode(text);
    const auto row = value ? std::vector<JsonPart>() : CutJsonRow(text);
    if (row.size() > 1) return ReadRow(row);
    AddJson(std::move(value), {text});
  }

  void ReadRow(const std::vector<JsonPart>& row) {
    int bad = 0;
    for (const JsonPart& part : row) {
      if (AddJson(json::Decode(part.text), part)) continue;
      if (++bad == kMaxBadDocuments) return AddRestIsIgnored();
    }
  }

  bool AddJson(tl::expected<json::Json, json::Issue> value, const JsonPart& part) {
    ++number_;
    if (value && value->is_null()) return true;
    Document& document = source_.documents.emplace_back();
    document.number = number_;
    document.lines_before = part.lines_before;
    document.columns_before = part.columns_before;
    if (!value) {
      document.fault = std::move(value.error());
      document.fault->at = document.InText(document.fault->at);
      document.line = document.fault->at.line;
      return false;
    }
    document.line = FirstLineWithContent(part.text) + part.lines_before;
    document.value = *std::move(value);
    NameItems(document.value);
    document.json_text = part.text;
    return true;
  }

  void ReadParts(const std::vector<Part>& parts) {
    int bad = 0;
    for (const Part& part : parts) {
      auto documents = json::DecodeYaml(part.text);
      if (documents) {
        Add(*std::move(documents), part.lines_before);
        continue;
      }
      AddFault(std::move(documents.error()), ++number_, part.lines_before);
      if (++bad == kMaxBadDocuments) return AddRestIsIgnored();
    }
  }

  void AddRestIsIgnored() {
    AddFault({{}, "", "too many invalid documents; the rest of the text is ignored", ""}, ++number_,
             0);
  }

  void Add(std::vector<json::YamlDocument> documents, int lines_before) {
    for (json::YamlDocument& decoded : documents) {
      ++number_;
      if (decoded.value.is_null()) continue;
      Document& document = source_.documents.emplace_back();
      document.number = number_;
      document.line = decoded.line + lines_before;
      document.value = std::move(decoded.value);
      NameItems(document.value);
      document.positions = std::move(decoded.positions);
      document.lines_before = lines_before;
    }
  }

  void AddFault(json::Issue fault, int number, int lines_before) {
    if (fault.at.line > 0) fault.at.line += lines_before;
    Document& document = source_.documents.emplace_back();
    document.number = number;
    document.line = fault.at.line;
    document.fault = std::move(fault);
  }

  Source& source_;
  int number_ = 0;
};

}  // namespace

std::unique_ptr<Source> Decode(InputText input) {
  auto source = std::make_unique<Source>();
  source->input = std::move(input);
  if (source->input.fault.empty()) DocumentReader(*source).Read();
  return source;
}

namespace {

// Neither a Kubernetes object nor one that lacks apiVersion or kind: that would have metadata.
bool IsForeign(const Value& value) {
  if (!value.is_object()) return true;
  const bool version = json::Find(value, "apiVersion") != nullptr;
  const bool kind = json::Find(value, "kind") != nullptr;
  if (version && kind) return false;
  return (!version && !kind) || !json::IsObject(json::Find(value, "metadata"));
}

// Unwraps Lists and AdmissionReviews.
class Unwrapper {
 public:
  Unwrapper(Source& source, Document& document, std::vector<InputObject>& out)
      : source_(source), document_(document), out_(out) {}

  // Recursion is bounded by the depth of a decoded document.
  void Unwrap(const Value& value, const std::string& path) {
    if (!value.is_object()) {
      Fault(path, "must be a Kubernetes object, not " + WithArticle(json::TypeName(value)),
            "write apiVersion, kind and metadata");
      return;
    }
    for (const char* key : {"apiVersion", "kind"}) {
      const Value* member = json::Find(value, key);
      const auto text = json::AsString(member);
      if (text && !text->empty()) continue;
      if (member == nullptr || text) {
        Fault(json::Child(path, key),
              "not a Kubernetes object: " + std::string(key) + " is missing",
              "add it; kubectl rejects the object as well");
      } else {
        Fault(json::Child(path, key),
              std::string(key) + " must be a string, not " + WithArticle(json::TypeName(*member)),
              "");
      }
      return;
    }
    const std::string kind = KindOf(value);
    if (kind == "AdmissionReview" && schemas::GroupOf(ApiVersionOf(value)) == "admission.k8s.io") {
      Review(value, path);
    } else if (IsList(value) && !json::Find(value, "items")->empty()) {
      const Value& items = *json::Find(value, "items");
      const std::string items_path = json::Child(path, "items");
      for (size_t i = 0; i < items.size(); ++i) Unwrap(items[i], json::Child(items_path, i));
    } else if (HasName(value, path)) {
      InputObject& object = Add(path);
      object.object = &value;
    }
  }

 private:
  // Whether the API server would know which object this is; else the fault is added.
  bool HasName(const Value& value, const std::string& path) {
    const bool evaluated = schemas::KindOf(value).has_value();
    const Value* metadata = json::Find(value, "metadata");
    const std::string place = json::Child(path, "metadata");
    if (metadata != nullptr && !metadata->is_object()) {
      if (!evaluated) Fault(place, "metadata must be an object", "write metadata: {name: ...}");
      return evaluated;  // a rule has the finding
    }
    bool named = false;
    for (const char* key : {"name", "generateName", "namespace"}) {
      const Value* member = json::Find(metadata, key);
      if (member == nullptr) continue;
      if (!member->is_string())
        return evaluated || WrongName(json::Child(place, key), key, *member);
      named = named || (key != std::string_view("namespace") && !member->text().empty());
    }
    const bool of_a_tool = source_.input.found && !evaluated && metadata == nullptr;
    if (named || of_a_tool || IsList(value)) return true;  // kustomization.yaml has no name
    Fault(json::Child(place, "name"), "metadata.name is missing, and so is generateName",
          "add one of them; kubectl rejects the object as well");
    return false;
  }

  static bool IsList(const Value& value) {
    return KindOf(value).ends_with("List") && json::IsArray(json::Find(value, "items"));
  }

  bool WrongName(const std::string& path, const std::string& key, const Value& value) {
    const auto written = AsWritten(source_, document_, path, value);
    Fault(path, key + " must be a string, not " + WithArticle(json::TypeName(value)),
          written ? "write " + key + ": " + Quote(*written) : "write a quoted text");
    return false;
  }

  InputObject& Add(std::string path) {
    InputObject& object = out_.emplace_back();
    object.source = &source_;
    object.document = &document_;
    object.path = std::move(path);
    return object;
  }

  void Fault(const std::string& path, std::string message, std::string hint) {
    InputObject& object = Add(path);
    object.fault = json::Issue{document_.At(path), json::FieldPath(document_.Root(), path),
                               std::move(message), std::move(hint)};
  }

  void Review(const Value& review, const std::string& path) {
    const Value* request = json::Find(review, "request");
    const std::string request_path = json::Child(path, "request");
    if (!json::IsObject(request)) {
      Fault(request_path, "this AdmissionReview has no request",
            "save the review that the API server sends, not the response");
      return;
    }
    const auto written = json::FindString(request, "operation");
    const auto operation = schemas::OperationNamed(written.value_or(""));
    if (!operation) {
      Fault(json::Child(request_path, "operation"),
            written ? Quote(*written) + " is not an operation" : "\"operation\" is missing",
            "write CREATE, UPDATE, DELETE or CONNECT");
      return;
    }
    for (const char* key : {"object", "oldObject"}) {
      const Value* value = json::Find(request, key);
      if (value != nullptr && !value->is_object()) {
        Fault(json::Child(request_path, key),
              std::string(key) + " must be an object, not " + WithArticle(json::TypeName(*value)),
              "");
        return;
      }
    }
    InputObject& object = Add(json::Child(request_path, "object"));
    object.from_review = true;
    object.user_info = json::Find(request, "userInfo");
    object.dry_run = json::AsBool(json::Find(request, "dryRun")).value_or(false);
    object.options = json::Find(request, "options");
    object.operation = *operation;
    object.object = json::Find(request, "object");
    object.old_object = json::Find(request, "oldObject");
    object.ns = json::FindString(request, "namespace").value_or("");
    object.subresource = json::FindString(request, "subResource").value_or("");
  }

  Source& source_;
  Document& document_;
  std::vector<InputObject>& out_;
};

}  // namespace

std::vector<InputObject> ObjectsIn(Source& source, Document& document, const std::string& path) {
  std::vector<InputObject> objects;
  const Value* value = json::Resolve(document.Root(), path);
  if (value != nullptr) Unwrapper(source, document, objects).Unwrap(*value, path);
  return objects;
}

std::vector<InputObject> ObjectsIn(Source& source) {
  std::vector<InputObject> objects;
  source.skipped = 0;
  if (!source.input.fault.empty()) {
    InputObject& object = objects.emplace_back();
    object.source = &source;
    object.fault = json::Issue{{}, "", source.input.fault, ""};
  }
  for (Document& document : source.documents) {
    if (document.fault) {
      InputObject& object = objects.emplace_back();
      object.source = &source;
      object.document = &document;
      object.fault = document.fault;
    } else if (source.input.found && IsForeign(document.Root())) {
      ++source.skipped;
    } else {
      Unwrapper(source, document, objects).Unwrap(document.Root(), "");
    }
  }
  return objects;
}

std::vector<InputObject> ObjectsOf(const std::vector<std::unique_ptr<Source>>& sources) {
  std::vector<InputObject> objects;
  for (const auto& source : sources) {
    auto found = ObjectsIn(*source);
    std::move(found.begin(), found.end(), std::back_inserter(objects));
  }
  return objects;
}

std::string ApiVersionOf(const Value& object) {
  return std::string(json::FindString(object, "apiVersion").value_or(""));
}

std::string KindOf(const Value& object) {
  return std::string(json::FindString(object, "kind").value_or(""));
}

std::string NamespaceOf(const Value& object) {
  return std::string(json::FindString(json::Find(object, "metadata"), "namespace").value_or(""));
}

namespace {

constexpr std::string_view kBlanksAndBreaks = " \t\r\n";

bool Opens(char c) { return c == '{' || c == '['; }

std::vector<JsonPart> CutJsonRow(std::string_view text) {
  std::vector<JsonPart> parts;
  JsonPart next;
  size_t begin = 0;
  const auto add = [&](size_t end) {
    next.text = text.substr(begin, end - begin);
    parts.push_back(next);
    const size_t line = next.text.rfind('\n');
    next.lines_before += static_cast<int>(std::count(next.text.begin(), next.text.end(), '\n'));
    next.columns_before = line == std::string_view::npos
                              ? next.columns_before + static_cast<int>(next.text.size())
                              : static_cast<int>(next.text.size() - line - 1);
    begin = end;
  };
  for (size_t at = 0;;) {
    const size_t first = text.find_first_not_of(kBlanksAndBreaks, at);
    if (first == std::string_view::npos && begin > 0) return parts;  // blanks at the end
    if (first == std::string_view::npos || !Opens(text[first])) break;
    at = std::min(json::EndOfValue(text, first), text.size());
    const size_t after = text.find_first_not_of(kBlanksAndBreaks, at);
    if (after != std::string_view::npos && !Opens(text[after])) break;
    add(at);
  }
  add(text.size());
  return parts;
}

}  // namespace

}  // namespace mindgate::offline
