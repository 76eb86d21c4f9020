import AssetStorage
import FileIO
import Foundation

extension AssetStoreError {
    init(errno: Int32) {
        switch errno {
        case ENOSPC, EDQUOT, EFBIG: self = .full
        case ENOENT: self = .missing
        case EMFILE, ENFILE: self = .tooManyOpenFiles
        default: self = .failed(code: errno)
        }
    }

    init(_ error: FileError) { self.init(errno: error.errno) }
}

/// Executes calls on files; converts a failure to an error of the store.
func onFile<Value>(_ calls: () throws(FileError) -> Value) throws(AssetStoreError) -> Value {
    do throws(FileError) {
        return try calls()
    } catch {
        throw AssetStoreError(error)
    }
}
