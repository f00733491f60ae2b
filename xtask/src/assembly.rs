//! Checks the compiled code of the kernels.
//!
//! A kernel is fast only if everything below its entry function is inlined into it. A function that is called does not
//! have the entry's instruction set, so every vector would go through memory. No test notices that, and a compiler may
//! change its inlining. So we read the assembly: each entry function has its vector instructions, and calls only what
//! is allowed.
use std::collections::BTreeMap;
use std::fs;

use crate::house::House;
use crate::step::{Log, Outcome, Step};

/// The entry functions: a part of their symbols' names, and a register that only the instruction set has.
const ENTRIES: [Entry; 2] =
    [Entry { marker: "enter_avx512", register: "%zmm" }, Entry { marker: "enter_avx2", register: "%ymm" }];

/// Parts of the symbols that an entry may call: moves of memory, the allocator and the code that requests more room
/// from it, and paths that end in a panic or an error.
const ALLOWED: [&str; 31] = [
    "memcpy",
    "memmove",
    "memset",
    "__rust_alloc",
    "__rust_dealloc",
    "__rust_realloc",
    "__rust_no_alloc_shim",
    "handle_alloc_error",
    "handle_error",
    "finish_grow",
    "grow_one",
    "Tokens4grow",
    // Once for each chunk whose masks are kept.
    "reserve_masks",
    "do_reserve_and_handle",
    "panic",
    "_fail",
    "_Unwind_Resume",
    "cold",
    // Checks escaped surrogates one by one. Text without them never gets there.
    "check_surrogates",
    // These check, byte by byte, a place where a literal may be, and lines that may be blank. There are few of both.
    "stand_at",
    "blank_lines",
    // These check a key with an escape, and a long key with the length of a wanted one.
    "escaped_member",
    "eq_unescaped",
    "bcmp",
    // Looks up a key if more than 32 keys are wanted.
    "find_among_many",
    // These locate an error, after one was found.
    "first_control",
    "verdict",
    "trailing",
    "careful_literal",
    // Handles numbers with exponents, if pass two checks numbers at all.
    "careful_number",
    // Checks a number that stands in the last 32 bytes of a text.
    "6number5check",
];

struct Entry {
    marker: &'static str,
    register: &'static str,
}

/// A function in assembly: its instructions, without labels and directives.
struct Function<'a> {
    symbol: &'a str,
    instructions: Vec<&'a str>,
}

/// With `Show::Report`, prints its findings even if all is well.
pub(crate) fn step(show: Show) -> Step {
    Step::new("assembly", "the kernels' entry functions are one piece each", move |house, log| run(house, log, show))
}

/// How much to print if all is well.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    Report,
    Nothing,
}

fn run(house: &House, log: &mut Log, show: Show) -> Outcome {
    if !cfg!(target_arch = "x86_64") {
        return Outcome::Impossible("only the kernels of x86-64 are read".into());
    }
    let Some(assembly) = emit(house, log) else { return Outcome::Failed };
    let (report, good) = check(&assembly);
    log.say(&report);
    if good && show == Show::Report {
        print!("\n{report}\n{:<18} ", "");
    }
    good.into()
}

/// The engine's assembly in the release profile, as one text.
fn emit(house: &House, log: &mut Log) -> Option<String> {
    let target = house.target.join("assembly");
    let folder = target.join("release/deps");
    let files = || {
        let files = fs::read_dir(&folder).into_iter().flatten().flatten().map(|file| file.path());
        files.filter(|path| path.extension().is_some_and(|extension| extension == "s"))
    };
    for old in files() {
        fs::remove_file(&old).inspect_err(|error| log.say(&format!("error: {}: {error}", old.display()))).ok()?;
    }
    let mut command = house.cargo(["rustc", "--release", "--package", "jird", "--lib", "--target-dir"]);
    command.arg(&target).args(["--", "--emit", "asm", "-C", "debuginfo=0", "-C", "codegen-units=1"]);
    // Removing files does not make cargo run the compiler again, but changing an input of the build does.
    command.args(["-C", &format!("metadata={}", unique())]);
    if !log.run(&mut command) {
        return None;
    }
    let texts: Vec<String> = files().filter_map(|path| fs::read_to_string(path).ok()).collect();
    Some(texts.concat())
}

/// A value that no earlier run used.
fn unique() -> u128 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_nanos())
}

/// The report on the entry functions, and whether all is well.
fn check(assembly: &str) -> (String, bool) {
    let functions = functions(assembly);
    let mut lines = Vec::new();
    let mut good = true;
    for entry in &ENTRIES {
        let mut entered = functions.iter().filter(|function| function.symbol.contains(entry.marker)).peekable();
        if entered.peek().is_none() {
            lines.push(format!("{}: NO SUCH FUNCTION", entry.marker));
            good = false;
        }
        for function in entered {
            good &= describe(entry, function, &mut lines);
        }
    }
    (lines.join("\n"), good)
}

/// Adds the report on one entry function to `lines`, and returns whether the function is as it should be.
fn describe(entry: &Entry, function: &Function<'_>, lines: &mut Vec<String>) -> bool {
    let len = function.instructions.len();
    let vectors = function.instructions.iter().filter(|text| text.contains(entry.register)).count();
    lines.push(format!("{}: {len} instructions, {vectors} of them with {}", function.symbol, entry.register));
    let mut good = vectors > 0;
    for (callee, times) in calls(function) {
        let allowed = ALLOWED.iter().any(|part| callee.contains(part));
        good &= allowed;
        lines.push(format!("  {} {callee} ({times} times)", if allowed { "calls" } else { "MUST NOT CALL" }));
    }
    good
}

/// The functions that this function calls or jumps to, and how often. A call through a register is listed under the
/// name of the imported function that the register was loaded with, or else under the register's own name.
fn calls(function: &Function<'_>) -> BTreeMap<String, usize> {
    let mut calls = BTreeMap::new();
    let mut loaded = BTreeMap::new();
    for instruction in &function.instructions {
        let Some((operation, operand)) = instruction.split_once(char::is_whitespace) else { continue };
        let operand = operand.trim();
        let leaves = match operation {
            "call" | "callq" => true,
            // Jumps within the function go to local labels, or through a table in a register.
            "jmp" | "jmpq" => !operand.starts_with(".L") && !operand.starts_with('*'),
            _ => false,
        };
        if leaves {
            let register = operand.strip_prefix('*').and_then(|register| loaded.get(register).copied());
            *calls.entry(register.unwrap_or_else(|| callee(operand)).to_owned()).or_insert(0) += 1;
        } else if let Some((source, target)) = operand.rsplit_once(", ") {
            // In AT&T's order the last operand is the one written.
            let function = source.contains("@GOTPCREL").then(|| callee(source));
            loaded.remove(target);
            loaded.extend(function.map(|function| (target, function)));
        }
    }
    calls
}

/// The function that an operand names. A pointer in the table of imported functions names its function.
fn callee(operand: &str) -> &str {
    let direct = operand.strip_prefix('*').filter(|operand| operand.contains("@GOTPCREL")).unwrap_or(operand);
    direct.split(['@', '(']).next().unwrap_or(direct)
}

/// Cuts assembly, as LLVM writes it for ELF, into functions.
fn functions(assembly: &str) -> Vec<Function<'_>> {
    let mut functions: Vec<Function<'_>> = Vec::new();
    let mut inside = false;
    for line in assembly.lines() {
        if let Some(symbol) = line.strip_suffix(':').filter(|label| !label.starts_with(['.', ' ', '\t', '#'])) {
            functions.push(Function { symbol, instructions: Vec::new() });
            inside = true;
        } else if line.starts_with(".Lfunc_end") {
            inside = false;
        } else if let Some(text) = line.strip_prefix('\t').filter(|text| inside && !text.starts_with(['.', '#']))
            && let Some(function) = functions.last_mut()
        {
            function.instructions.push(text);
        }
    }
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assembly(call: &str) -> String {
        format!(
            "\t.text\n_R5enter_avx512:\n\t.cfi_startproc\n\tvpaddb\t%zmm0, %zmm1, %zmm2\n.LBB0_1:\n\tjmp\t.LBB0_1\n\
             \t{call}\n\tcallq\t*memcpy@GOTPCREL(%rip)\n.Lfunc_end0:\n_R5other:\n\tcallq\tsomething_else\n.Lfunc_end1:\n\
             _R5enter_avx2:\n\tvpaddb\t%ymm0, %ymm1, %ymm2\n\tretq\n.Lfunc_end2:\n"
        )
    }

    #[test]
    fn an_entry_may_call_memcpy_and_what_panics() {
        let (report, good) = check(&assembly("callq\t_RNvNtCs_4core9panicking5panic"));
        assert!(good, "{report}");
        assert!(report.contains("calls memcpy (1 times)"), "{report}");
    }

    #[test]
    fn an_entry_may_not_call_or_jump_to_anything_else() {
        for call in ["callq\tsimd_helper", "jmp\tsimd_helper", "callq\t*simd_helper@GOTPCREL(%rip)", "callq\t*%rax"] {
            let (report, good) = check(&assembly(call));
            assert!(!good && report.contains("MUST NOT CALL"), "{call}: {report}");
        }
    }

    #[test]
    fn a_register_stands_for_the_function_that_it_was_loaded_with() {
        let through = |load: &str, call: &str| check(&assembly(&format!("movq\t{load}, %r15\n\t{call}")));
        let (report, good) = through("memcpy@GOTPCREL(%rip)", "callq\t*%r15");
        assert!(good && report.contains("calls memcpy (2 times)"), "{report}");
        let (report, good) = through("simd_helper@GOTPCREL(%rip)", "callq\t*%r15");
        assert!(!good && report.contains("MUST NOT CALL simd_helper"), "{report}");
        let (report, good) = through("memcpy@GOTPCREL(%rip)", "movq\t8(%rax), %r15\n\tcallq\t*%r15");
        assert!(!good && report.contains("MUST NOT CALL *%r15"), "{report}");
    }

    #[test]
    fn an_entry_has_vector_instructions_and_is_there_at_all() {
        assert!(!check(&assembly("nop").replace("%zmm", "%xmm")).1);
        assert!(!check(&assembly("nop").replace("enter_avx2", "other_avx2")).1);
    }
}
