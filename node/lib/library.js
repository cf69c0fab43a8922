'use strict';
// The shared library as koffi sees it: its functions by their names without `plim_`, and the structs that they take.
// Fields at the end that nothing here sets are left away.

const koffi = require('koffi');

const headers = [0, 1, 0]; // the version of the headers that this was written for
const named = process.env.PLIMSOLL_LIBRARY;
const path = named || 'libplimsoll.so.0';

function failure(what, cause) {
  return Object.assign(new Error(`plimsoll: ${what}`, { cause }), { code: 'ERR_PLIMSOLL_LIBRARY' });
}

function open() {
  try {
    return koffi.load(path);
  } catch (error) {
    const advice = named ? 'PLIMSOLL_LIBRARY names it'
      : 'install Plimsoll where the system looks for libraries, or set PLIMSOLL_LIBRARY to the path of the library';
    throw failure(`cannot load ${path} (${advice}): ${error.message}`, error);
  }
}

const library = open();
for (const handle of ['status', 'engine', 'target', 'module', 'function', 'buffer', 'parameters', 'state', 'stop', 'report'])
  koffi.opaque(`plim_${handle}`);

const structs = {
  EngineOptions: koffi.struct('plim_engine_options', {
    struct_size: 'uint32_t', flags: 'uint32_t', target: 'plim_target *', threads: 'uint32_t', numerics: 'uint32_t',
    policy: 'const char *', limits: 'void *', cache_folder: 'const char *', cache_bytes: 'uint64_t', logger: 'void *',
    allocator: 'void *', host_functions: 'void *',
  }),
  LoadOptions: koffi.struct('plim_load_options', {
    struct_size: 'uint32_t', flags: 'uint32_t', policy: 'const char *', limits: 'void *',
    parameters: 'plim_parameters *', host_functions: 'void *', pools: 'void *', pool_count: 'size_t', progress: 'void *',
    progress_user: 'void *', release_source: 'void *', source_user: 'void *', specialization: 'uint32_t',
    specialization_count: 'uint32_t', device: 'const char *', stop: 'plim_stop *', numerics: 'uint32_t',
    reserved: 'uint32_t', timeout_nanoseconds: 'uint64_t',
  }),
  CallOptions: koffi.struct('plim_call_options', {
    struct_size: 'uint32_t', flags: 'uint32_t', outputs: 'void *', output_count: 'size_t', workspace: 'void *',
    workspace_bytes: 'size_t', pools: 'void *', pool_count: 'size_t', state: 'plim_state *', stop: 'plim_stop *',
  }),
  BufferMemory: koffi.struct('plim_buffer_memory', {
    struct_size: 'uint32_t', flags: 'uint32_t', element: 'uint32_t', rank: 'uint32_t', shape: 'int64_t *',
    strides: 'int64_t *', data: 'void *', bytes: 'size_t', bytes_before: 'size_t', release: 'void *', user: 'void *',
  }),
  ValueType: koffi.struct('plim_value_type', {
    struct_size: 'uint32_t', kind: 'uint32_t', element: 'uint32_t', rank: 'uint32_t', shape: 'void *',
    strides: 'void *', access: 'uint32_t', donated_to: 'int32_t', name: 'const char *', bounds: 'void *',
  }),
  Diagnostic: koffi.struct('plim_diagnostic', {
    struct_size: 'uint32_t', severity: 'int32_t', message: 'const char *', file: 'const char *', line: 'uint32_t',
    column: 'uint32_t', end_line: 'uint32_t', end_column: 'uint32_t',
  }),
};

const functions = {};

function declare(declarations) {
  for (const declaration of declarations) {
    const [, name] = declaration.match(/(\w+)\(/);
    try {
      functions[name.slice('plim_'.length)] = library.func(declaration);
    } catch (error) {
      throw failure(`${path} is not Plimsoll's library: ${error.message}`, error);
    }
  }
}

// First, whether the others may be asked for.
declare([
  'plim_status *plim_version_check(uint32_t version)',
  'const char *plim_status_message(plim_status *status)',
  'void plim_status_release(plim_status *status)',
]);
const [major, minor, patch] = headers;
const refusal = functions.version_check((major << 16) | (minor << 8) | patch);
if (refusal) {
  const message = functions.status_message(refusal);
  functions.status_release(refusal);
  throw failure(`${path}: ${message}`);
}

declare([
  'const char *plim_version_string()',
  'int32_t plim_status_code(plim_status *status)',
  'const char *plim_code_name(int32_t code)',
  'const char *plim_status_file(plim_status *status)',
  'uint32_t plim_status_line(plim_status *status)',
  'uint32_t plim_status_column(plim_status *status)',
  'size_t plim_status_diagnostic_count(plim_status *status)',
  'plim_status *plim_status_diagnostic(plim_status *status, size_t index, _Inout_ plim_diagnostic *diagnostic)',
  'plim_status *plim_target_create(const char *name, void *overrides, size_t count, _Out_ plim_target **target)',
  'void plim_target_release(plim_target *target)',
  'plim_status *plim_engine_create(plim_engine_options *options, _Out_ plim_engine **engine)',
  'uint32_t plim_engine_threads(plim_engine *engine)',
  'void plim_engine_release(plim_engine *engine)',
  'plim_status *plim_parameters_create(_Out_ plim_parameters **parameters)',
  'plim_status *plim_parameters_set(plim_parameters *parameters, const char *name, plim_buffer *buffer)',
  'plim_status *plim_parameters_load_safetensors(plim_parameters *parameters, const char *path)',
  'void plim_parameters_release(plim_parameters *parameters)',
  'plim_status *plim_stop_create(_Out_ plim_stop **stop)',
  'plim_status *plim_stop_request(plim_stop *stop)',
  'void plim_stop_release(plim_stop *stop)',
  'plim_status *plim_module_load(plim_engine *engine, const void *source, size_t size, const char *name, '
    + 'plim_load_options *options, _Out_ plim_module **module)',
  'plim_status *plim_module_load_file(plim_engine *engine, const char *path, plim_load_options *options, '
    + '_Out_ plim_module **module)',
  'size_t plim_module_function_count(plim_module *module)',
  'const char *plim_module_function_name(plim_module *module, size_t index)',
  'plim_status *plim_module_function(plim_module *module, const char *name, _Out_ plim_function **function)',
  'plim_status *plim_module_explain(plim_module *module, _Out_ plim_report **report)',
  'void plim_module_release(plim_module *module)',
  'const char *plim_report_text(plim_report *report)',
  'void plim_report_release(plim_report *report)',
  'plim_status *plim_state_create(plim_module *module, _Out_ plim_state **state)',
  'plim_status *plim_state_variable(plim_state *state, const char *name, _Out_ plim_buffer **buffer)',
  'plim_status *plim_state_reset(plim_state *state)',
  'void plim_state_release(plim_state *state)',
  'size_t plim_function_argument_count(plim_function *function)',
  'size_t plim_function_result_count(plim_function *function)',
  'plim_status *plim_function_argument_type(plim_function *function, size_t index, _Inout_ plim_value_type *type)',
  'plim_status *plim_function_result_type(plim_function *function, size_t index, _Inout_ plim_value_type *type)',
  'plim_status *plim_function_call(plim_function *function, void *arguments, size_t argument_count, '
    + 'void *results, size_t result_count, plim_call_options *options)',
  'void plim_function_release(plim_function *function)',
  'plim_status *plim_buffer_wrap(plim_buffer_memory *memory, _Out_ plim_buffer **buffer)',
  'uint32_t plim_buffer_element_type(plim_buffer *buffer)',
  'uint32_t plim_buffer_rank(plim_buffer *buffer)',
  'void *plim_buffer_shape(plim_buffer *buffer)',
  'size_t plim_buffer_bytes(plim_buffer *buffer)',
  'void *plim_buffer_data(plim_buffer *buffer)',
  'void plim_buffer_release(plim_buffer *buffer)',
]);

/** All fields of a struct: those that are given, the others zero, and its size. */
function sized(struct, fields = {}) {
  const all = {};
  for (const { name, type } of Object.values(struct.members))
    all[name] = type.primitive === 'Pointer' || type.primitive === 'String' ? null : 0;
  return { ...all, ...fields, struct_size: koffi.sizeof(struct) };
}

module.exports = { functions, koffi, sized, structs, version: functions.version_string() };
