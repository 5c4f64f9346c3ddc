#include "kube/config_node.h"

#include <utility>

#include "base/text.h"
#include "json/pointer.h"

namespace mindgate::kube {
ConfigNode::ConfigNode(const ConfigFile& file, const Json* value, std::string pointer)
    : file_(&file),
      value_(value == nullptr || value->is_null() ? nullptr : value),
      pointer_(std::move(pointer)) {}

std::string ConfigNode::Place() const {
  return json::PlaceText(file_->path, file_->positions.At(pointer_));
}

std::string ConfigNode::Field() const {
  std::string field;
  const Json* at = &file_->root;
  for (const std::string& token : json::Tokens(pointer_).value_or(std::vector<std::string>())) {
    if (json::IsArray(at)) {
      field += "[" + token + "]";
      at = json::Resolve(*at, "/" + token);
    } else {
      field += (field.empty() ? "" : ".") + token;
      at = json::Find(at, token);
    }
  }
  return field;
}

ConfigNode ConfigNode::Member(std::string_view key) const {
  return {*file_, json::Find(value_, key), json::Child(pointer_, key)};
}

bool ConfigNode::Must(bool holds, std::string_view be, ConfigErrors& complaints) const {
  if (holds) return true;
  const std::string field = Field();
  std::string instead;
  if (be == "a string" && value_->is_primitive()) instead = "put it in quotes";
  complaints.Add(Place(),
                 (field.empty() ? "the file" : field) + " must be " + std::string(be) + ", not " +
                     WithArticle(json::TypeName(*value_)),
                 instead);
  return false;
}

ConfigNode ConfigNode::Object(std::string_view key, ConfigErrors& complaints) const {
  const ConfigNode member = Member(key);
  if (!member || !member.Must(member.value().is_object(), "an object", complaints)) {
    return {*file_, nullptr, member.pointer_};
  }
  return member;
}

std::string ConfigNode::Text(std::string_view key, ConfigErrors& complaints) const {
  const ConfigNode member = Member(key);
  if (!member || !member.Must(member.value().is_string(), "a string", complaints)) return {};
  return member.value().get<std::string>();
}

std::string ConfigNode::RequiredText(std::string_view key, std::string_view instead,
                                     ConfigErrors& complaints) const {
  std::string text = Text(key, complaints);
  const ConfigNode member = Member(key);
  if (text.empty() && (!member || member.value().is_string())) {
    complaints.Add(member.Place(), Field() + " has no " + std::string(key), std::string(instead));
  }
  return text;
}

bool ConfigNode::Flag(std::string_view key, ConfigErrors& complaints) const {
  const ConfigNode member = Member(key);
  if (!member || !member.Must(member.value().is_boolean(), "true or false", complaints)) {
    return false;
  }
  return member.value().get<bool>();
}

std::vector<ConfigNode> ConfigNode::Items(std::string_view key, ConfigErrors& complaints) const {
  const ConfigNode member = Member(key);
  if (!member || !member.Must(member.value().is_array(), "a list", complaints)) return {};
  std::vector<ConfigNode> items;
  for (size_t i = 0; i < member.value().size(); ++i) {
    items.push_back({*file_, &member.value()[i], json::Child(member.pointer_, i)});
  }
  return items;
}

}  // namespace mindgate::kube
