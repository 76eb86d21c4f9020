import Administration
import Foundation
import RecordStore
import StorageContract

/// Whether the folder of assets is the one of the store beside it.
///
/// A disk that is not mounted leaves an empty folder, and a server would upload into it.
struct AssetsPresence {
    private static let sampleMax = 20
    /// Fewer absent files are findings of a verification, and no other folder.
    private static let absentMin = 5
    /// A file that says that the loss is known.
    private static let acceptedName = "loss-accepted"

    let folder: DataFolder

    private var acceptedPath: String { self.folder.assetsPath + "/" + Self.acceptedName }

    /// Refuses to serve a store without the folder of its assets.
    ///
    /// - Throws: `data`.
    func check(_ store: Store) throws(CommandFailure) {
        guard let lack = self.lack(store), !FileManager.default.fileExists(atPath: self.acceptedPath) else {
            return
        }
        let data = ShellText.quoted(self.folder.path)
        throw CommandFailure(
            .data,
            "\(self.folder.assetsPath) \(lack). If it is on a disk of its own, mount that. Otherwise put the files back: "
                + "tidemark restore --from BACKUP --part assets --data \(data). To go on without them: "
                + "tidemark repair --accept-loss --data \(data)"
        )
    }

    /// Lets a server go on without the files.
    ///
    /// - Returns: What is lacking; `nil` if nothing is.
    func acceptLoss(_ store: Store) throws -> String? {
        guard let lack = self.lack(store) else { return nil }
        try AssetFiles(in: self.folder.assetsPath).makeFolder()
        try WholeFile.replace(self.acceptedPath, with: "")
        return "\(self.folder.assetsPath) \(lack)"
    }

    /// The folder has its files again.
    func forgetLoss() { unlink(self.acceptedPath) }

    private func lack(_ store: Store) -> String? {
        guard let sample = try? store.assets.stored(after: nil, limit: Self.sampleMax), !sample.isEmpty
        else { return nil }
        let files = AssetFiles(in: self.folder.assetsPath)
        guard !sample.contains(where: { files.hasFile(of: $0) }) else { return nil }
        let names = try? FileManager.default.contentsOfDirectory(atPath: self.folder.assetsPath)
        switch names?.filter({ $0 != CopyFolder.lostAndFound && $0 != Self.acceptedName }).count {
        case nil: return "is missing, and the store has files there"
        case 0: return "is empty, and the store has files there"
        default:
            return sample.count < Self.absentMin
                ? nil : "has none of the store's files: it is of another store"
        }
    }
}
