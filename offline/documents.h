#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/decode.h"
#include "json/issues.h"
#include "json/value.h"
#include "offline/inputs.h"
#include "schemas/request.h"

namespace mindgate::offline {

// One document of a text, decoded.
struct Document {
  int number = 0;  // its position in the text, from 1
  int line = 0;    // of its first content; 0 if unknown
  json::Json value;
  std::optional<json::Issue> fault;  // why it is invalid; then `value` is null
  json::Positions positions;
  std::string_view json_text;  // of a document of JSON; a part of the source's text
  // For a document that was decoded separately: what stands before it in the text.
  int lines_before = 0;
  int columns_before = 0;  // in its first line

  // The position of the value at `pointer` in the text.
  json::Position At(std::string_view pointer);
  // The same of a place that was found in the document alone.
  json::Position InText(json::Position at) const;

  // The value as the engine reads it; lives as long as the document.
  const json::Value& Root();

 private:
  std::optional<json::Document> laid_out_;  // once it was asked for
  bool located_ = false;                    // the positions of JSON, once they were asked for
};

// A text with its documents.
struct Source {
  InputText input;
  std::vector<Document> documents;
  size_t skipped = 0;  // documents that are not Kubernetes objects, in a text found in a folder
};

// Strict JSON if the name ends with .json, or if standard input starts with { or [; else YAML.
// Objects of JSON may follow each other, as jq prints them. An invalid document does not affect the
// others. Null documents are dropped.
std::unique_ptr<Source> Decode(InputText input);

// An object to be admitted: a document, an item of a List, or the object of a recorded
// AdmissionReview.
struct InputObject {
  Source* source = nullptr;
  Document* document = nullptr;
  std::string path;                         // of the object in the document
  const json::Value* object = nullptr;      // null: a review without one (DELETE), or a fault
  const json::Value* old_object = nullptr;  // of a review
  std::optional<json::Issue> fault;         // it is not a Kubernetes object
  bool from_review = false;
  schemas::Operation operation = schemas::Operation::kCreate;  // from here on: from a review
  std::string ns;
  std::string subresource;
  const json::Value* user_info = nullptr;  // null pointer: unknown
  bool dry_run = false;
  const json::Value* options = nullptr;  // null pointer: unknown
};

// In the order of the texts. An invalid document or text becomes one InputObject with that fault. A
// document that is not a Kubernetes object is a fault in a text that the user named. In a folder it
// is counted instead: folders contain values files and dashboards too.
std::vector<InputObject> ObjectsOf(const std::vector<std::unique_ptr<Source>>& sources);
std::vector<InputObject> ObjectsIn(Source& source);

// The same for the value at `path` within a document.
std::vector<InputObject> ObjectsIn(Source& source, Document& document, const std::string& path);

// Identifying fields of an object; empty if missing.
std::string ApiVersionOf(const json::Value& object);
std::string KindOf(const json::Value& object);
std::string NamespaceOf(const json::Value& object);

// One of several JSON texts that follow each other.
struct JsonPart {
  std::string_view text;
  int lines_before = 0;
  int columns_before = 0;  // in the line in which it begins
};

}  // namespace mindgate::offline
