public import Foundation

extension NSNotification.Name {
    /// Posted when the user of a container changes.
    public static let CKAccountChanged = NSNotification.Name("CKAccountChangedNotification")
}
