public import Foundation

extension NSNotification.Name {
    /// Posted when the server's word on a container's token changes: accepted until now and not any more, or accepted again.
    ///
    /// Its object is `nil`, as Apple's. It comes when a request, `accountStatus` or somebody who listens to notifications hears
    /// of it, on any thread.
    public static let CKAccountChanged = NSNotification.Name("CKAccountChangedNotification")
}
