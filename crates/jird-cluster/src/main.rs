//! The program `jird-cluster`.

fn main() -> std::process::ExitCode {
    jird_cluster::main()
}
