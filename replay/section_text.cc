#include "replay/section_text.h"

#include "core/parameters.h"

namespace rung {

void SectionText::Separate() {
  if (!text_.empty() && text_.back() != '{' && text_.back() != '[' && text_.back() != ':') {
    text_ += ',';
  }
}

void SectionText::Scalar(std::string_view json) {
  Separate();
  text_ += json;
}

void SectionText::Key(std::string_view name) {
  Separate();
  text_ += JsonQuote(name);
  text_ += ':';
}

void SectionText::Open(char bracket) {
  Separate();
  text_ += bracket;
}

void SectionText::Close(char bracket) { text_ += bracket; }

}  // namespace rung
