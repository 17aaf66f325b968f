import Foundation

/// Returns whether this process runs as that mutant.
///
/// `Scripts/mutants.sh` puts this file into each module of its copy that has mutants.
func isMutant(_ name: String) -> Bool { name == mutant }

private let mutant = ProcessInfo.processInfo.environment["MUTANT"]
