import RecordModel
import RecordStore
import StorageContract
import TestSupport

/// Saves and deletes records of its own that name assets which all share.
///
///     try NAME N      before a save of version N, or with -N before a delete
///     done NAME N     after it; nothing when it was refused
struct RecordWork {
    let folder: WorkFolder
    private let number: Int
    private var generator: SeededGenerator

    init(folder: WorkFolder, number: Int, seed: UInt64) {
        self.folder = folder
        self.number = number
        self.generator = SeededGenerator(seed: seed &+ UInt64(number) &* 1_000)
    }

    func run() async throws {
        var work = self
        var version = WorkFolder.now
        while true {
            version += 1
            try await work.change(version: version)
        }
    }

    private mutating func change(version: Int64) async throws {
        let name = "w\(self.number)-\(Int.random(in: 0..<4, using: &self.generator))"
        let isShort = Int.random(in: 0..<4, using: &self.generator) == 0
        let id = RecordID(zone: isShort ? WorkFolder.zone : .default, recordName: name)
        let isDelete = Int.random(in: 0..<5, using: &self.generator) == 0
        let files = (0..<Int.random(in: 0...3, using: &self.generator)).map { _ in
            WorkFolder.file(Int.random(in: 0..<WorkFolder.files, using: &self.generator))
        }
        let upload = Array(Set(files))
        if !isDelete, !upload.isEmpty { try await self.folder.upload(upload) }
        let change = "\(name) \(isDelete ? -version : version)"
        if !isShort { AssetWorker.say("try \(change)") }
        var operation = ModifyRecords(scope: .private, saves: [], policy: .changedKeys)
        if isDelete {
            operation.deletes = [id]
        } else {
            let fields = [
                Field(name: "files", value: files.isEmpty ? .emptyList : .assetList(files)),
                Field(name: "version", value: .int64(version)),
            ]
            operation.saves = [
                RecordSave(id: id, recordType: "Work", changeTag: nil, changes: RecordBody(fields))
            ]
        }
        let outcome = try await self.folder.write(.modifyRecords(operation))[0]
        switch outcome {
        case .failed(.zoneMissing), .failed(.assetNotAvailable): return
        case .failed(let error): throw error
        default: if !isShort { AssetWorker.say("done \(change)") }
        }
    }
}
