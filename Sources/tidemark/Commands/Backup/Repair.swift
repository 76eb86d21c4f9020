import Administration
import ArgumentParser
import Foundation
import StorageContract

/// The command `tidemark repair`.
struct Repair: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Let a store with a damaged or missing log be served.",
        discussion: """
            A start that finds less than the disk had acknowledged ends with 65, and \
            names this command. If only the log is damaged and the database has \
            everything, the log begins anew, and nothing is lost.

            With --accept-loss the store goes on without the saves that are missing. \
            It is then as after a restore: change tokens have expired, so clients \
            fetch everything again, and no change tag is given twice. Copy the folder \
            first: the rest of a damaged log is gone afterwards.

              tidemark repair --data /var/lib/tidemark
              tidemark repair --data /var/lib/tidemark --accept-loss
            """
    )

    @Flag(help: "Go on without the saves that are missing.")
    var acceptLoss = false

    @OptionGroup var data: DataOption
    @OptionGroup var result: ResultOption

    /// The result of a repair.
    private struct Repaired: Encodable {
        /// Whether anything was changed.
        let repaired: Bool
        /// Whether acknowledged saves are gone, and clients fetch everything again.
        let savesLost: Bool
        /// The finding, if there was one.
        var finding: String?
    }

    func run() throws {
        let folder = self.data.folder
        try folder.refuseUnlessServable()
        try folder.refuseUnlessFile()
        guard folder.hasStore else { throw folder.hasNoStore }
        let lock = try DataFolderLock(folder: folder)
        defer { withExtendedLifetime(lock) {} }
        do {
            let repair = try EngineOpening.repair(folder, acceptsLoss: self.acceptLoss)
            if let loss = repair.loss, !repair.isDone { throw LossAdvice.failure(loss, in: folder) }
            let repaired = Repaired(
                repaired: repair.loss != nil,
                savesLost: repair.loss.map { !$0.isInFile } ?? false,
                finding: repair.loss.map { LossAdvice.finding($0) }
            )
            try self.result.write(repaired) { Terminal.write(Self.text(repair.loss, folder)) }
        } catch let error as StoreCopyError {
            throw CopyAdvice.failure(error, in: folder.path)
        }
    }

    private static func text(_ loss: LogLoss?, _ folder: DataFolder) -> String {
        guard let loss else { return "Nothing is missing, and nothing was changed.\n" }
        if loss.isInFile {
            return "\(LossAdvice.finding(loss)). The database has all of it: the log begins anew.\n"
        }
        return "\(LossAdvice.finding(loss)). The store goes on without what is missing, and clients fetch "
            + "everything again.\nCompare what is left: tidemark verify --data \(ShellText.quoted(folder.path))\n"
    }
}
