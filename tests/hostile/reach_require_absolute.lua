-- expect: require
require "/etc/hostname"
