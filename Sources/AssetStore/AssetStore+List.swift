package import AssetStorage
import FileIO
import Foundation
import StorageContract

extension AssetStore {
    /// Lists the numbers of files, and of side files without a file.
    ///
    /// They are in the order of their folders, and ascend in each. A cursor is the last number of
    /// its page. A page reads the names of one folder or more.
    package func list(
        after cursor: AssetPage.Cursor?,
        limit: Int,
        reply: @escaping @Sendable (Result<AssetPage, AssetStoreError>) -> Void
    ) {
        let folder = self.folder
        self.threads.run {
            reply(Result { () throws(AssetStoreError) in try folder.page(after: cursor, limit: limit) })
        }
    }
}

extension AssetFolder {
    fileprivate func page(
        after cursor: AssetPage.Cursor?,
        limit: Int
    ) throws(AssetStoreError) -> AssetPage {
        let last = try cursor.map { cursor throws(AssetStoreError) in
            guard let number = Self.number(ofFile: cursor.text) else { throw .failed(code: EINVAL) }
            return number
        }
        var numbers: [AssetNumber] = []
        for digits in (last.map(Self.lastDigits) ?? 0)...0xFF {
            var found = try self.numbers(endingIn: digits)
            if let last, digits == Self.lastDigits(of: last) { found.removeAll { $0 <= last } }
            numbers += found.prefix(limit - numbers.count)
            if numbers.count == limit {
                let end = numbers.last.map { AssetPage.Cursor(text: Self.fileName($0)) }
                return AssetPage(numbers: numbers, next: end)
            }
        }
        return AssetPage(numbers: numbers, next: nil)
    }

    /// The numbers of the files in one folder, ascending.
    private func numbers(endingIn digits: Int64) throws(AssetStoreError) -> [AssetNumber] {
        let path = self.path + "/" + Self.folderName(endingIn: digits)
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            // A folder is made with its first file.
            guard access(path, F_OK) == 0 else { return [] }
            throw .failed(code: EIO)
        }
        return Set(names.compactMap(Self.number(ofFile:))).sorted()
    }
}
