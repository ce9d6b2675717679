#pragma once

#include <string>
#include <string_view>

/// Puts the tokens of a parser together again, for a small part of a long text that is to be read
/// as a document of its own.
namespace rung {

class SectionText {
 public:
  /// `json` is the text of a number, a literal or a quoted string.
  void Scalar(std::string_view json);
  void Key(std::string_view name);
  void Open(char bracket);
  void Close(char bracket);

  const std::string& text() const { return text_; }

 private:
  void Separate();

  std::string text_;
};

}  // namespace rung
