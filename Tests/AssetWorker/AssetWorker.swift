import Foundation
import RecordStore
import SQLiteEngine
import TestSupport

/// For CrashTests: works on assets until it is killed, or prints what a folder holds.
///
///     AssetWorker work DIRECTORY SEED    a line before and after every change of a record
///     AssetWorker check DIRECTORY        the contents, then what is left after all due removals
///
/// `RecordWork` and `FolderCheck` describe the output.
@main
enum AssetWorker {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 2 else { fatalError("work or check, and a folder") }
        let folder = try WorkFolder(path: arguments[2], isAhead: arguments[1] == "check")
        if arguments[1] == "check" { return try await FolderCheck(folder: folder).run() }
        let seed = arguments.count > 3 ? UInt64(arguments[3]) ?? 0 : 0
        // The first that fails ends the process.
        await withThrowingTaskGroup { group in
            for number in 0..<WorkFolder.workers {
                group.addTask { try await RecordWork(folder: folder, number: number, seed: seed).run() }
            }
            group.addTask { try await folder.sweepForEver(seed: seed) }
            group.addTask { try await folder.replaceZoneForEver() }
            do {
                try await group.waitForAll()
            } catch {
                self.say("failed \(error)")
                exit(1)
            }
        }
    }

    /// A line at once: the next instruction may be the last.
    static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
