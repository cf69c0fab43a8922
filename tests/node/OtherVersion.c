/* A library of another version: it says so. */
struct plim_status;
static int refusal;
struct plim_status *plim_version_check(unsigned version);
struct plim_status *plim_version_check(unsigned version) {
  (void)version;
  return (struct plim_status *)&refusal;
}
const char *plim_status_message(const struct plim_status *status);
const char *plim_status_message(const struct plim_status *status) {
  return status ? "another version" : "";
}
void plim_status_release(struct plim_status *status);
void plim_status_release(struct plim_status *status) { (void)status; }
