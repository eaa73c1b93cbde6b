// A library that is built as libllama by TestHostileLibrary. Its constructor and the first of its
// functions that is called try what native code has no use for, and say what could be done in the
// one way that it has: the output of the process, whose line with ASSERT emberd shows.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "places.h" // note, data, config, keys, home, sock, tcp, udp

static char done[2048];
static int tried;

// outcome notes an attempt; a negative result is one that was refused.
static void outcome(const char *name, long result) {
	tried++;
	if (result >= 0) {
		strncat(done, " ", sizeof done - strlen(done) - 1);
		strncat(done, name, sizeof done - strlen(done) - 1);
	}
}

static long opened(const char *path, int flags) {
	int fd = open(path, flags, 0600);
	if (fd >= 0) close(fd);
	return fd;
}

static void files(void) {
	const char *places[][2] = {{"note", note}, {"data", data}, {"config", config}, {"keys", keys}, {"passwd", "/etc/passwd"}};
	char name[64], made[512], stolen[512];
	snprintf(stolen, sizeof stolen, "%s/.stolen", home);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		snprintf(name, sizeof name, "read-%s", places[i][0]);
		outcome(name, opened(places[i][1], O_RDONLY));
		if (i == 4) break; // which is not ours to change
		snprintf(name, sizeof name, "write-%s", places[i][0]);
		outcome(name, opened(places[i][1], O_WRONLY | O_APPEND));
		snprintf(name, sizeof name, "make-beside-%s", places[i][0]);
		snprintf(made, sizeof made, "%s.hostile", places[i][1]);
		outcome(name, opened(made, O_WRONLY | O_CREAT));
		outcome("rename", rename(made, stolen));
		outcome("chmod", chmod(places[i][1], 0600));
	}
	snprintf(made, sizeof made, "%s/.hostilerc", home);
	outcome("dotfile", opened(made, O_WRONLY | O_CREAT));
	snprintf(made, sizeof made, "%s/.hostile", home);
	outcome("folder", mkdir(made, 0700));
	outcome("link", symlink(keys, made));
	outcome("cut", opened(made, O_RDONLY | O_TRUNC));
	outcome("temp", opened(home, O_RDWR | O_TMPFILE));
	outcome("shm", opened("/dev/shm/emberd-hostile", O_RDWR | O_CREAT));
}

static void sockets(void) {
	const int families[] = {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK, AF_PACKET, 40 /* AF_VSOCK */};
	const int kinds[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW};
	char name[64];
	for (size_t f = 0; f < 6; f++)
		for (size_t k = 0; k < 3; k++) {
			int fd = socket(families[f], kinds[k], 0);
			if (fd < 0 && (errno == ESOCKTNOSUPPORT || errno == EPROTONOSUPPORT || errno == EAFNOSUPPORT)) continue;
			snprintf(name, sizeof name, "socket-%d-%d", families[f], kinds[k]);
			outcome(name, fd);
			if (fd >= 0) close(fd);
		}
	int pair[2];
	outcome("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	to.sin_port = htons(udp);
	outcome("send-udp", sendto(fd, "stolen", 6, 0, (struct sockaddr *)&to, sizeof to));
	fd = socket(AF_INET, SOCK_STREAM, 0);
	to.sin_port = htons(tcp);
	outcome("connect-tcp", connect(fd, (struct sockaddr *)&to, sizeof to));
	struct sockaddr_un local = {.sun_family = AF_UNIX};
	strncpy(local.sun_path, sock, sizeof local.sun_path - 1);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	outcome("connect-unix", connect(fd, (struct sockaddr *)&local, sizeof local));
	char params[256] = {0};
	outcome("io_uring", syscall(425, 4, params));
#ifdef __x86_64__
	long result; // a call of the 32-bit interface, which has other numbers
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(359), "b"(AF_INET), "c"(SOCK_DGRAM), "d"(0) : "memory");
	outcome("socket-i386", result);
	outcome("socket-x32", syscall(0x40000000 | SYS_socket, AF_INET, SOCK_DGRAM, 0));
#endif
}

// started reports whether a child that executes a program ended as that program does.
static long started(pid_t child) {
	int status = 0;
	if (child < 0) return -1;
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

static void programs(void) {
	char *const argv[] = {"true", NULL};
	pid_t child = fork();
	outcome("fork", child);
	if (child == 0) {
		execv("/bin/true", argv);
		_exit(1);
	}
	outcome("fork-exec", started(child));
	outcome("system", system("exit 0") == 0 ? 0 : -1);
	int fd = syscall(SYS_memfd_create, "hostile", 0);
	const char script[] = "#!/bin/true\n";
	if (write(fd, script, sizeof script - 1) < 0) fd = -1;
	child = vfork();
	if (child == 0) {
		syscall(SYS_execveat, fd, "", argv, NULL, AT_EMPTY_PATH);
		_exit(1);
	}
	outcome("execveat", started(child));
	outcome("execve-missing", execv("/nonexistent", argv) == -1 && errno == ENOENT ? 0 : -1); // it was looked for
}

static void processes(void) {
	pid_t parent = getppid();
	char name[64], byte;
	struct iovec here = {&byte, 1}, there = {(void *)0x400000, 1};
	outcome("trace-parent", ptrace(PTRACE_SEIZE, parent, 0, 0));
	outcome("read-parent", process_vm_readv(parent, &here, 1, &there, 1, 0));
	outcome("signal-parent", kill(parent, 0));
	outcome("signal-thread", syscall(SYS_tgkill, parent, parent, 0));
	outcome("pidfd", syscall(434, parent, 0));
	snprintf(name, sizeof name, "/proc/%d/environ", parent);
	outcome("parent-environ", opened(name, O_RDONLY));
	snprintf(name, sizeof name, "/proc/%d/mem", parent);
	outcome("parent-memory", opened(name, O_RDWR));
	outcome("namespace", syscall(SYS_unshare, CLONE_NEWUSER));
	outcome("keyring", syscall(SYS_add_key, "user", "hostile", "x", 1, -3));
	struct rlimit limit;
	outcome("limits", prlimit(parent, RLIMIT_NOFILE, NULL, &limit));
}

static void *everything(void *ignored) {
	files();
	sockets();
	processes();
	programs();
	return ignored;
}

// attack tries everything in a thread of its own as well.
static void attack(void) {
	pthread_t thread;
	everything(NULL);
	if (pthread_create(&thread, NULL, everything, NULL) == 0) pthread_join(thread, NULL);
}

static int inConstructor;

__attribute__((constructor)) static void load(void) {
	attack();
	inConstructor = tried;
}

// The first function that emberd calls.
void llama_log_set(void *callback, void *data) {
	attack();
	fprintf(stderr, "ASSERT tried %d and %d, done:%s.\n", inConstructor, tried - inConstructor, done);
	_exit(9);
}

#define UNUSED(name) void name(void) {}
UNUSED(llama_backend_init) UNUSED(llama_print_system_info) UNUSED(llama_model_default_params)
UNUSED(llama_context_default_params) UNUSED(llama_model_load_from_file) UNUSED(llama_model_free)
UNUSED(llama_model_get_vocab) UNUSED(llama_model_n_ctx_train) UNUSED(llama_model_n_embd)
UNUSED(llama_model_has_encoder) UNUSED(llama_model_has_decoder) UNUSED(llama_init_from_model) UNUSED(llama_free)
UNUSED(llama_n_batch) UNUSED(llama_n_ubatch) UNUSED(llama_n_seq_max) UNUSED(llama_pooling_type)
UNUSED(llama_set_n_threads) UNUSED(llama_set_embeddings) UNUSED(llama_get_memory) UNUSED(llama_memory_clear)
UNUSED(llama_tokenize) UNUSED(llama_decode) UNUSED(llama_get_embeddings_seq)
UNUSED(ggml_backend_load_all_from_path) UNUSED(ggml_backend_reg_count) UNUSED(ggml_backend_reg_get)
UNUSED(ggml_backend_reg_name) UNUSED(ggml_backend_dev_count) UNUSED(ggml_backend_dev_get)
UNUSED(ggml_backend_dev_type)
