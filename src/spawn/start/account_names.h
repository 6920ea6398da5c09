// Names of users and groups for messages. A static program cannot load the modules by which the C library looks
// accounts up (nsswitch.conf(5)), so /etc/passwd and /etc/group are read, and getent(1) is called for accounts of a
// directory service.
#pragma once

#include <string>
#include <string_view>

#include <sys/types.h>

namespace muster {

// Printable; "uid 4711" or "gid 4711" if the account has no name, or none that could be found within kLookupTime.
std::string UserName(uid_t user);
std::string GroupName(gid_t group);

// The name in the line of that number in a file of the form of passwd(5) and group(5), "name:password:number:…"; empty
// if there is none.
std::string AccountNameIn(std::string_view file, std::string_view number);

}  // namespace muster
