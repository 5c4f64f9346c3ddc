#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/inputs.h"
#include "json/issues.h"
#include "json/json.h"
#include "json/positions.h"
#include "schemas/request.h"

namespace mindgate::cli {

// One document of a text, decoded.
struct Document {
  int number = 0;  // 1-based in its text
  int line = 0;    // of its first content; 0 when unknown
  json::Json value;
  std::optional<json::Issue> fault;  // why it cannot be used; then `value` is null
  json::Positions positions;
  std::string_view json_text;  // of a JSON text whose positions nobody has asked for yet
  int lines_before = 0;        // of a YAML document that was decoded apart from those above it

  // Where the value at `pointer` stands in the text.
  json::Position At(std::string_view pointer);
};

// A text with its documents.
struct Source {
  InputText input;
  std::vector<Document> documents;
  size_t skipped = 0;  // documents of a text that was found, which are not Kubernetes objects
};

// Strict JSON when the name ends with .json, or when standard input begins with { or [; else YAML.
// When a document of a YAML stream is bad the others are decoded all the same. Null documents are
// left out.
std::unique_ptr<Source> Decode(InputText input);

// Something to be admitted: a document, an item of a List, or the object of a recorded
// AdmissionReview.
struct InputObject {
  Source* source = nullptr;
  Document* document = nullptr;
  std::string path;                    // of the object in the document
  const json::Json* object = nullptr;  // null pointer: a review without one (DELETE), or a fault
  const json::Json* old_object = nullptr;  // of a review
  std::optional<json::Issue> fault;        // it is not a Kubernetes object
  bool from_review = false;
  schemas::Operation operation = schemas::Operation::kCreate;  // of a review, as what follows
  std::string ns;
  std::string subresource;
};

// In the order of the texts. A document or text with a fault gives one InputObject with that fault.
// What is not a Kubernetes object is a fault in a text that was named, and is counted in one that
// was found: folders hold values files and dashboards too.
std::vector<InputObject> ObjectsOf(const std::vector<std::unique_ptr<Source>>& sources);
std::vector<InputObject> ObjectsIn(Source& source);

// The same for one value within a document, which stands at `path`.
std::vector<InputObject> ObjectsIn(Source& source, Document& document, const json::Json& value,
                                   const std::string& path);

// Members of an object that say which it is; empty when missing.
std::string ApiVersionOf(const json::Json& object);
std::string KindOf(const json::Json& object);
std::string NameOf(const json::Json& object);
std::string NamespaceOf(const json::Json& object);

// The objects of one invocation; never complete, for there may be others in the cluster. An object
// that names no namespace counts as in `default_namespace` and, as it may be cluster-scoped, in
// none.
class KnownObjects {
 public:
  struct Known {
    const json::Json* object;
    const Source* source;  // null pointer: none in particular
  };
  KnownObjects(const std::vector<Known>& objects, std::string default_namespace);

  // Of several objects with one name the one of `near` counts, else the last: folders hold copies.
  class Lookup final : public schemas::ObjectLookup {
   public:
    Lookup(const KnownObjects& all, const Source* near) : all_(all), near_(near) {}
    const json::Json* Find(std::string_view group, std::string_view kind, std::string_view ns,
                           std::string_view name) const override;
    bool IsComplete(std::string_view, std::string_view) const override { return false; }
    void ForEach(std::string_view group, std::string_view kind, std::string_view ns,
                 const std::function<void(const json::Json&)>& visit) const override;

   private:
    const KnownObjects& all_;
    const Source* near_;
  };

 private:
  struct Entry {
    std::string group;
    std::string kind;
    std::string ns;
    Known known;
  };
  bool Matches(const Entry& entry, std::string_view group, std::string_view kind,
               std::string_view ns) const;

  std::multimap<std::string, Entry, std::less<>>
      entries_;  // by name; of one name in the order given
  std::string default_namespace_;
};

}  // namespace mindgate::cli
