#include "plimsoll/report.h"

#include "capi/Objects.h"

using namespace plim::capi;

extern "C" {

const char *plim_report_text(const plim_report *report) {
  return isLive(report) ? report->text.c_str() : nullptr;
}

size_t plim_report_size(const plim_report *report) {
  return isLive(report) ? report->text.size() : 0;
}

void plim_report_retain(plim_report *report) { retain(report); }
void plim_report_release(plim_report *report) { release(report); }

} // extern "C"
