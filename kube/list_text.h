#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace mindgate::kube {

// The text of a list, cut into the texts of its parts, so that a page costs its text and the tree
// of one item at a time. It looks at brackets and strings only: a part is JSON if a decoder says
// so. Views of the text that it was made of.
class ListText {
 public:
  // The error says why the text is not that of a list.
  static tl::expected<ListText, std::string> Of(std::string_view text);

  std::string_view metadata() const { return metadata_; }  // empty: there is none

  // The next item, once each; nothing after the last.
  std::optional<std::string_view> Next();

 private:
  std::string_view metadata_;
  std::string_view rest_;  // of the items, from the next one on
};

}  // namespace mindgate::kube
