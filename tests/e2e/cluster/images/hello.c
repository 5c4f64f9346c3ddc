// The program of localhost/hello:1: answers every HTTP request on port 8080 (or the first argument) with its pod's name.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void End(int signal) {
  (void)signal;
  _exit(0);
}

int main(int argc, char** argv) {
  signal(SIGTERM, End);
  signal(SIGINT, End);
  signal(SIGPIPE, SIG_IGN);
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  char answer[512];
  int length = snprintf(answer, sizeof answer,
                        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
                        "Connection: close\r\n\r\n%s\n",
                        strlen(host) + 1, host);
  int server = socket(AF_INET, SOCK_STREAM, 0);
  int on = 1;
  setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((unsigned short)(argc > 1 ? atoi(argv[1]) : 8080))};
  if (bind(server, (struct sockaddr*)&address, sizeof address) != 0 || listen(server, 128) != 0) {
    perror("hello: cannot listen");
    return 1;
  }
  for (;;) {
    int client = accept(server, NULL, NULL);
    if (client < 0) continue;
    char request[4096];
    if (read(client, request, sizeof request) > 0 && write(client, answer, (size_t)length) < 0) {
      perror("hello: cannot answer");
    }
    close(client);
  }
}
