#pragma once

#include <string_view>

/// Where a token may go unencrypted: not beyond this machine.
namespace rung {

/// Whether `host`, as it stands in HOST:PORT, is this machine whatever a resolver says: localhost,
/// [::1], or an address of 127.0.0.0/8 as four numbers. A name is not, however it begins:
/// 127.example.org belongs to somebody.
bool IsLoopbackHost(std::string_view host);

}  // namespace rung
