import Foundation
import RecordModel
import RecordStore
import StorageContract

/// Says what a folder holds.
///
///     record NAME N      a record and its version
///     named NUMBER       an asset that it names
///     lost NAME          a record that names what is not there
///     before NUMBER      a file, before anything is removed
///     stored NUMBER      a complete asset, after all that is due is removed
///     file NUMBER        a file, after that
struct FolderCheck {
    let folder: WorkFolder

    func run() async throws {
        self.sayFiles("before")
        for worker in 0..<WorkFolder.workers {
            for record in 0..<4 {
                for zone in [ZoneID.default, WorkFolder.zone] {
                    try await self.say(RecordID(zone: zone, recordName: "w\(worker)-\(record)"))
                }
            }
        }
        // The uses of deleted zones are removed while nobody asks for anything, and then the grace
        // time begins.
        var quiet = 0
        while quiet < 5 {
            quiet = try await self.folder.sweep(limit: 10) == 0 ? quiet + 1 : 0
            if quiet > 0 { try await Task.sleep(for: .milliseconds(500)) }
        }
        var last: AssetNumber?
        while true {
            let page = try self.folder.store.assets.stored(after: last, limit: 100)
            for asset in page { AssetWorker.say("stored \(asset.number.rawValue)") }
            guard page.count == 100 else { break }
            last = page.last?.number
        }
        self.sayFiles("file")
        await self.folder.store.shutdown()
    }

    private func sayFiles(_ word: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: self.folder.filesPath)) ?? []
        for name in names.sorted() { AssetWorker.say("\(word) \(name)") }
    }

    private func say(_ id: RecordID) async throws {
        let fetched = await withCheckedContinuation { continuation in
            self.folder.store.fetchRecords([id], desiredKeys: nil, for: self.folder.requester) {
                continuation.resume(returning: $0)
            }
        }
        guard case .record(let record) = try fetched.get()[0] else { return }
        for field in record.body.fields {
            switch field.value {
            case .int64(let version) where id.zone.isDefault:
                AssetWorker.say("record \(id.recordName) \(version)")
            case .assetList(let assets):
                let located = await withCheckedContinuation { continuation in
                    self.folder.store.locateAssets(
                        assets.map(\.sha256),
                        of: id,
                        for: self.folder.requester
                    ) { continuation.resume(returning: $0) }
                }
                switch located {
                case .success(let found):
                    for asset in found { AssetWorker.say("named \(asset.number.rawValue)") }
                case .failure: AssetWorker.say("lost \(id.recordName)")
                }
            default: continue
            }
        }
    }
}
