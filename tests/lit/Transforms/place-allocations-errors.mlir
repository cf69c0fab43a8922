// RUN: plimsoll-opt %s -plim-place-allocations=policy=everywhere -split-input-file -verify-diagnostics
// RUN: not plimsoll-opt %s -plim-place-allocations=policy=fixed:many -split-input-file 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NUMBER
// RUN: not plimsoll-opt %s -plim-place-allocations=policy=fixed:-1 -split-input-file 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NEGATIVE
// RUN: not plimsoll-opt %s -plim-place-allocations=policy=fixed -split-input-file 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BARE

// NUMBER: error: unknown allocation policy 'fixed:many'
// NEGATIVE: error: unknown allocation policy 'fixed:-1'
// BARE: error: unknown allocation policy 'fixed'

// expected-error @below {{unknown allocation policy 'everywhere'; known are auto, stack, workspace, heap and fixed:N}}
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu">>} {
}

// -----

// expected-error @below {{the module has no 'dlti.target_system_spec' attribute}}
module {
}

// -----

// expected-error @below {{invalid target}}
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.kind" = "cpu", "plim.cores" = 0 : i64>>} {
}

// -----

// expected-error @below {{target entry 'host.plim.depth': unknown key}}
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "host" = #dlti.target_device_spec<"plim.depth" = 3 : i64>>} {
}
